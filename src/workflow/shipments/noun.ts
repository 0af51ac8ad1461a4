import { noun } from '../../kit/operation/noun.ts';
import { shipmentMails } from './mails.ts';
import { shipmentOperations } from './routes.ts';
import { trackParcels } from './tracking/jobs.ts';

export const shipments = noun({
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
