import type { ReactNode } from 'react';
import type { NAVIGATION } from './navigation.ts';

type Path = (typeof NAVIGATION)[number]['links'][number]['to'];

/** One line each, on a grid of 24. */
const SHAPES: Readonly<Record<Path, string>> = {
  '/': 'M3 11 12 4l9 7M6 9.5V20h12V9.5M10 20v-6h4v6',
  '/analytics': 'M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6',
  '/customers':
    'M12 10a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM5 21v-3c0-2.500 3-4 7-4s7 1.500 7 4v3M19 4v5M16.500 6.500h5',
  '/returns': 'M4 20h16M4 15l5-5 4 3 7-8M15 5h5v5',
  '/reports': 'M3 6h18v12H3V6ZM3 7l9 7 9-7',
  '/clicks': 'M5 4l6 16 2.500-6.500L20 11 5 4ZM14 14l5 5',
  '/directory': 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20',
  '/lists': 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  '/roster':
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20c0-3.5 3-5.5 6.5-5.5s6.5 2 6.5 5.5M16 4.5a3.5 3.5 0 0 1 0 6.5M18 15c2 .7 3.5 2.3 3.5 5',
  '/groups': 'M8 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM16 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM3 15h18M3 15v5h18v-5',
  '/campaigns': 'M4 10v4h3l9 5V5L7 10H4ZM19.5 9.5a4 4 0 0 1 0 5',
  '/applications': 'M4 13v6h16v-6l-3-8H7l-3 8ZM4 13h5l1.500 3h3l1.500-3h5',
  '/conversations': 'M4 5h16v11H10l-4 4v-4H4V5Z',
  '/briefs': 'M6 3h8l4 4v14H6V3ZM14 3v4h4M9 12h6M9 16h6',
  '/contracts': 'M4 17c2-5 4-9 6-9s-2 9 0 9 2-4 4-4-1 4 1 4h5M4 21h16',
  '/deliverables': 'M4 12.500 9.500 18 20 7',
  '/shipments': 'M4 8l8-4 8 4v8l-8 4-8-4V8ZM4 8l8 4 8-4M12 12v8',
  '/content': 'M4 5h16v14H4V5ZM10 9v6l5-3-5-3Z',
  '/assets': 'M4 5h16v14H4V5ZM4 16l5-5 4 4 2-2 5 4M15.500 9.500h.01',
  '/orders': 'M5 7h14l-1 13H6L5 7ZM9 10V6a3 3 0 0 1 6 0v4',
  '/commissions': 'M19 5 5 19M7.500 9.500a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM16.500 18.500a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  '/payouts': 'M3 6h18v12H3V6ZM12 14.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM6 12h.01M18 12h.01',
  '/statements': 'M6 3h12v18l-3-2-3 2-3-2-3 2V3ZM9 8h6M9 12h6',
  '/journal': 'M5 4h13v16H5V4ZM5 8h13M9 8v12M12 12h4M12 15h4',
  '/reconciliation': 'M12 4v16M8 20h8M5 7h14M5 7l-3 7h6L5 7ZM19 7l-3 7h6l-3-7Z',
  '/disputes': 'M12 3 2.500 20h19L12 3ZM12 10v5M12 17.500h.01',
  '/links': 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.700-5.700l-1 1M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.700 5.700l1-1',
  '/stores': 'M4 10v10h16V10M3 10l2-6h14l2 6c0 3-4 3-4.500 0-.5 3-4.500 3-4.500 0 0 3-4 3-4.500 0C7 13 3 13 3 10Z',
  '/webhooks': 'M13 3 5 14h6l-1 7 8-11h-6l1-7Z',
  '/imports': 'M12 15V4M7.500 8.500 12 4l4.500 4.500M4 17v3h16v-3',
  '/exports': 'M12 4v11M7.500 10.500 12 15l4.500-4.500M4 17v3h16v-3',
  '/keys': 'M8 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 12h9v3M17 12v3',
  '/requests': 'M4 6h16M4 12h16M4 18h10M2 6h.01M2 12h.01M2 18h.01',
  '/agents': 'M5 8h14v11H5V8ZM12 8V4M9 13h.01M15 13h.01M2.500 12v3M21.500 12v3',
  '/people': 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.500 21c0-4 3.300-6 7.500-6s7.500 2 7.500 6',
  '/rights': 'M12 3 4 6v6c0 4.500 3.400 7.700 8 9 4.600-1.300 8-4.500 8-9V6l-8-3ZM9 12l2.200 2.200L15.500 10',
  '/audit': 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3.500 2',
  '/settings': 'M4 7h10M18 7h2M4 17h2M10 17h10M16 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM8 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
};

export function Icon({ of }: { of: Path }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={SHAPES[of]} />
    </svg>
  );
}
