import type { Kind } from './kinds.ts';

export type DateOrder = 'dmy' | 'mdy' | 'ymd';
export type DecimalSign = '.' | ',';
export type Goods = 'amount' | 'subtotal' | 'subtotal_less_discount' | 'total_less_rest' | 'total';
export type TaxPlace = 'on_top' | 'included';
export type StatusMeaning = 'counts' | 'refunded' | 'left_out' | 'paid' | 'active' | 'paused';
export type By = 'mapping' | 'stored' | 'format' | 'own' | 'word' | 'values';

/** A caller says this about a file. Answers to questions are mappings, too. */
export interface Mapping {
  columns?: Record<string, string | null>;
  constants?: Record<string, string>;
  sheet?: string;
  encoding?: string;
  separator?: string;
  header_line?: number;
  dates?: DateOrder;
  time_zone?: string;
  decimal?: DecimalSign;
  unit?: 'major' | 'minor';
  goods?: Goods;
  tax?: TaxPlace;
  tax_in_prices?: 'proportional' | 'goods_only';
  partial_refunds?: 'proportional' | 'goods_first';
  rate?: 'percent' | 'fraction';
  symbols?: Record<string, string>;
  statuses?: Record<string, StatusMeaning>;
  people?: Record<string, string>;
  known?: 'keep' | 'update';
  zeros?: 'same' | 'other';
  totals?: 'ignore';
}

export interface ImportingBrand {
  currency: string;
  timeZone: string;
  stores: readonly { platform: string; currency: string }[];
}

export interface Request {
  of: Kind;
  mapping?: Mapping;
  /** The mapping stored for this source and header: weaker than `mapping`, stronger than what the file says. */
  stored?: Mapping;
  brand: ImportingBrand;
  now: Date;
}

export interface ByteSource {
  name: string;
  sizeBytes: number;
  /** Reads a range of bytes, both ends included, or all. It is called several times. */
  read(range?: { start: number; end: number }): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;
}

export type RecordOutcome = 'read' | 'repeated' | 'left_out' | 'refused';

export interface OrderRecord {
  order_id: string | null;
  order_number: string | null;
  placed_at: string;
  paid_at: string | null;
  cancelled_at: string | null;
  refunded_at: string | null;
  currency: string;
  /** Goods without tax and shipping, in minor units, as all amounts of records. */
  amount: number;
  refunded: number;
  customer_email: string | null;
  codes: string[];
  click_ids: string[];
  items: { sku: string; title: string; quantity: string; line_amount: string }[];
}

/** An order as a store's file has it, beside ours. */
export interface ComparedRecord {
  order_id: string | null;
  order_number: string | null;
  /** A range where prices include tax that shipping has a part of; null if they cannot be read. */
  goods: { currency: string; least: number; most: number; refunded: number } | null;
  is_refunded: boolean;
  is_cancelled: boolean;
}

export interface PaidRecord {
  email: string | null;
  handle: string | null;
  name: string | null;
  code: string | null;
  amount: number;
  currency: string;
  paid_at: string;
  reference: string | null;
  order_id: string | null;
  sale_amount: number | null;
  fee: number | null;
  method: string | null;
}

export interface PersonRecord {
  email: string | null;
  name: string | null;
  instagram: string | null;
  tiktok: string | null;
  tags: string[];
  note: string | null;
  status: 'active' | 'paused';
  codes: { code: string; rate_ppm: number | null }[];
  /** The tracking link of another tool. */
  link: string | null;
  /** Pages that links of the person lead to. */
  destinations: { destination_url: string; rate_ppm: number | null }[];
  payment_email: string | null;
  payment_method: string | null;
  external_id: string | null;
}

export interface DirectoryRecord {
  pk: string | null;
  username: string;
  full_name: string | null;
  follower_count: number | null;
  following_count: number | null;
  media_count: number | null;
  engagement_rate: string | null;
  city: string | null;
  country: string | null;
  biography: string | null;
}

export type ReadRecord =
  | ({ kind: 'order' } & OrderRecord)
  | ({ kind: 'compared' } & ComparedRecord)
  | ({ kind: 'paid' } & PaidRecord)
  | ({ kind: 'person' } & PersonRecord)
  | ({ kind: 'directory' } & DirectoryRecord);

/** The cell for which rows are refused. */
export interface Fault {
  field: string | null;
  /** Null if the file has no column of the field. */
  column: string | null;
  value: string | null;
  /** In words, a value that would be right. */
  expected: string;
}

/** One record, or rows without one, with everything that was decided about them. */
export interface Line {
  line: number;
  lines: number[];
  /** The original cells of its rows. */
  cells: string[][];
  outcome: RecordOutcome;
  kind: string | null;
  message: string | null;
  record: ReadRecord | null;
  /** An order that is left out because it was called off, which says so of one that is known. */
  called_off?: ReadRecord;
  /** The identity by which a later file, or the database, knows the record. */
  known_by: string | null;
  status: string | null;
  /** Only a refused line may have one. */
  fault: Fault | null;
}

export interface Sum {
  currency: string;
  records: number;
  amount: number;
  refunded: number;
  net: number;
}

export interface Option {
  mapping: Mapping;
  label: string;
  sums: Sum[];
  records: number;
  refused: number;
  /** The first records that it decides, as they would be read. */
  sample: Line[];
}

export interface Question {
  id: string;
  code: string;
  message: string;
  field: string | null;
  lines: number;
  first_lines: number[];
  options: Option[];
  /** The first records that it is about, where others know the options. */
  sample?: Line[];
}

export interface ColumnReading {
  position: number;
  header: string;
  field: string | null;
  confidence: 'proved' | 'likely' | 'asked' | null;
  by: By | null;
  damaged: boolean;
  samples: string[];
}

export interface StatusReading {
  value: string;
  means: StatusMeaning | 'asked';
  lines: number;
  sums: Sum[];
}

export interface Refusal {
  kind: string;
  lines: number;
  first_lines: number[];
  message: string;
  fault?: Fault | null;
}

export interface Reading {
  status: 'refused' | 'needs_answers' | 'ready';
  reading_id: string;
  file: { name: string; size_bytes: number; sha256: string };
  format: { key: string; name: string } | null;
  text: {
    encoding: string;
    separator: string;
    header_line: number | null;
    sheet: string | null;
    sheets: string[];
    totals_lines: number[];
    repaired: number;
    differing: { line: number; text: string }[];
  };
  columns: ColumnReading[];
  readings: {
    dates: DateOrder | null;
    time_zone: string;
    time_zone_by: 'mapping' | 'file' | 'brand';
    decimal: DecimalSign | null;
    unit: 'major' | 'minor';
    goods: Goods | null;
    tax: TaxPlace | 'by_line' | null;
    currency: string | null;
  };
  statuses: StatusReading[];
  questions: Question[];
  counts: { lines: number; records: number; read: number; repeated: number; left_out: number; refused: number };
  sums: (Sum & { outcome: RecordOutcome })[];
  refusals: Refusal[];
  warnings: { code: string; message: string }[];
  sample: Line[];
}
