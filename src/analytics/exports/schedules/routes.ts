import { list, remove } from '../../../kit/operation/kit.ts';
import { notFound } from '../../../kit/values/errors.ts';
import { scheduleOf } from './actions.ts';
import { deleteSchedule, schedules } from './queries.ts';
import { ExportSchedule } from './schema.ts';

const tag = 'Jobs';
const forAgents = false;

export const scheduleOperations = [
  list({
    ...{ id: 'list_export_schedules', path: '/v1/exports/schedules', tag, item: ExportSchedule, forAgents },
    summary: 'Scheduled exports',
    description: 'Exports into your own buckets, newest first. Each of their jobs has the `schedule_id`.',
    rows: schedules,
    itemOf: (row) => scheduleOf(row),
  }),
  remove({
    ...{ id: 'delete_export_schedule', path: '/v1/exports/schedules/{id}', tag },
    summary: 'End a scheduled export',
    description: 'Deletes its access key. Delivered files stay in your bucket. A running export fails.',
    forAgents,
    item: ExportSchedule,
    errors: ['NOT_FOUND'],
    apply: async ({ db, now, brandId, audit }, { params: { id } }) => {
      const row = await deleteSchedule(db, brandId, id, now);
      if (!row) throw notFound('export schedule');
      const { credentials: _credentials, ...shown } = row;
      audit({ resourceId: id, old: { ...shown, deletedAt: null }, new: null });
      return scheduleOf(row);
    },
  }),
] as const;
