import { Link } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { useAll } from '../call/use.ts';
import { useFilters } from '../kit/filters.tsx';
import { PageHead, type PageHeadProps } from '../kit/parts.tsx';

type Report = Row<'list_reports'>;

export const OPERATION_LABELS: Readonly<Record<Report['operation'], string>> = {
  analytics: 'Analytics',
  breakdown: 'Sales by creator',
  customers: 'Customers',
  returns: 'Profit',
  share: 'Creators’ share of sales',
  performance: 'Links and codes',
};
export const nameReport = ({ name, operation }: Report) => name ?? OPERATION_LABELS[operation];

/** The head of a page of figures. If a report led to it, it has the report's name, and the way back. */
export function FiguresHead({ title, children, ...head }: PageHeadProps) {
  const id = useFilters().get('report');
  const reports = useAll('list_reports', {}, { isEnabled: id !== undefined }).data ?? [];
  const report = reports.find((one) => one.id === id);
  if (!report)
    return (
      <PageHead title={title} {...head}>
        {children}
      </PageHead>
    );
  return (
    <PageHead title={`Report: ${nameReport(report)}`} {...head}>
      <Link to="/reports" search={{}} className="button plain">
        Back to reports
      </Link>
      <Link to="/reports" search={{ open: report.id }} className="button plain">
        Edit
      </Link>
      {children}
    </PageHead>
  );
}
