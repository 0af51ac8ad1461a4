import { act, create, get, patch, read } from '../../kit/operation/kit.ts';
import { listHandlers } from '../../kit/operation/list.ts';
import { noun } from '../../kit/operation/noun.ts';
import { toWire } from '../../kit/values/wire.ts';
import { shareOperations } from './share.api.ts';
import { shipmentMails } from './shipments.mails.ts';
import {
  Notified,
  Shipment,
  ShipmentCreate,
  ShipmentDetail,
  ShipmentFilter,
  ShipmentList,
  ShipmentPatch,
} from './shipments.shapes.ts';
import { createShipment, getShipment, lockShipment, notifyCreator, patchShipment, shipments } from './shipments.ts';
import { trackParcels } from './tracking.ts';

const tag = 'Shipments';

const shipmentOperations = [
  read({
    id: 'list_shipments',
    path: '/v1/shipments',
    tag,
    summary: 'List shipments',
    description: 'Newest first.',
    query: ShipmentFilter,
    response: ShipmentList,
    ...listHandlers(shipments, Shipment, toWire),
  }),
  get({
    id: 'get_shipment',
    path: '/v1/shipments/{id}',
    tag,
    summary: 'Get a shipment',
    description: 'Includes the events that the carrier reported.',
    item: ShipmentDetail,
    find: async ({ postgres }, { caller, params }) => toWire(await getShipment(postgres.db, caller.brandId, params.id)),
  }),
  create({
    id: 'create_shipment',
    path: '/v1/shipments',
    tag,
    summary: 'Record a shipment to a creator',
    description:
      'The carrier is stored in lower case; the address may be an object or a text and is returned in the same form. ' +
      'A tracking number alone changes no status: PATCH or the carrier does.',
    forAgents: {
      description: 'A tracking number alone changes no status: update_shipment or the carrier does.',
      example: { creator_email: 'ana@example.com', product_description: 'Two lipsticks' },
      omits: ['estimated_arrival'],
    },
    body: ShipmentCreate,
    item: Shipment,
    apply: async (work, { body }) => toWire(await createShipment(work, body)),
  }),
  patch({
    id: 'update_shipment',
    path: '/v1/shipments/{id}',
    tag,
    summary: 'Correct a shipment or change its status',
    description:
      'Only the fields that you send change; null clears one. Any status may follow any other. Entering `shipped` or `delivered` ' +
      'records the time; going back clears it.',
    forAgents: {
      description:
        'Any status may follow any other. Entering `shipped` or `delivered` records the time; going back clears it.',
      example: { id: 'shp_…', status: 'shipped' },
    },
    body: ShipmentPatch,
    item: Shipment,
    errors: ['NOT_FOUND'],
    apply: async (work, { params, body }) => toWire(await patchShipment(work, params.id, body)),
  }),
  act({
    id: 'notify_shipment_creator',
    path: '/v1/shipments/{id}/notify',
    tag,
    summary: 'Email the creator about the parcel',
    description:
      'Links to a page where they confirm that it arrived. Sent once for each status in 30 days; `mail` gives the outcome.',
    item: Notified,
    errors: ['NOT_FOUND'],
    hints: { idempotent: true },
    apply: async (work, { params }) => {
      const row = await lockShipment(work.db, work.brandId, params.id);
      return { id: row.id, creator_email: row.creatorEmail ?? '', mail: await notifyCreator(work, row) };
    },
  }),
  ...shareOperations,
] as const;

export const shipmentsNoun = noun({
  name: 'shipments',
  tag: {
    name: 'Shipments',
    about: 'Parcels to creators, and public pages that show their status.',
  },
  ids: { shipments: 'shp' },
  operations: shipmentOperations,
  jobs: [trackParcels],
  mails: shipmentMails,
});
