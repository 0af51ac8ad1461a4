/** The kinds of file that are read, and the fields that a column of each may be. */
export const KINDS = [
  'orders',
  'commissions',
  'roster',
  'payouts',
  'payment_details',
  'reconciliation',
  'directory',
] as const;
export type Kind = (typeof KINDS)[number];

/** The type of a field's cells decides how they are read, and how sure their column must be. */
export type FieldType =
  | 'id'
  | 'money'
  | 'time'
  | 'clock'
  | 'zone'
  | 'currency'
  | 'status'
  | 'flag'
  | 'email'
  | 'handle'
  | 'list'
  | 'rate'
  | 'count'
  | 'text';

const ORDER_FIELDS = {
  order_id: 'id',
  order_number: 'id',
  placed_at: 'time',
  time: 'clock',
  time_zone: 'zone',
  paid_at: 'time',
  cancelled_at: 'time',
  refunded_at: 'time',
  currency: 'currency',
  amount: 'money',
  subtotal: 'money',
  discount: 'money',
  total: 'money',
  shipping: 'money',
  taxes: 'money',
  fees: 'money',
  refunded: 'money',
  refunded_tax: 'money',
  adjusted_total: 'money',
  status: 'status',
  test: 'flag',
  customer_email: 'email',
  codes: 'list',
  click_ids: 'list',
  sku: 'text',
  title: 'text',
  quantity: 'text',
  line_amount: 'text',
} as const satisfies Record<string, FieldType>;

/** An order that is compared needs no times: what it is, what it cost, and whether it still counts. */
const COMPARED_FIELDS = {
  order_id: 'id',
  order_number: 'id',
  currency: 'currency',
  amount: 'money',
  subtotal: 'money',
  discount: 'money',
  total: 'money',
  shipping: 'money',
  taxes: 'money',
  fees: 'money',
  refunded: 'money',
  refunded_tax: 'money',
  adjusted_total: 'money',
  cancelled_at: 'text',
  status: 'status',
} as const satisfies Record<string, FieldType>;

const PAID_FIELDS = {
  email: 'email',
  handle: 'handle',
  name: 'text',
  first_name: 'text',
  last_name: 'text',
  code: 'id',
  amount: 'money',
  currency: 'currency',
  paid_at: 'time',
  time: 'clock',
  time_zone: 'zone',
  reference: 'id',
  status: 'status',
  kind: 'text',
  order_id: 'id',
  sale_amount: 'money',
  fee: 'money',
  net: 'money',
  refunded: 'money',
  method: 'text',
} as const satisfies Record<string, FieldType>;

const ROSTER_FIELDS = {
  email: 'email',
  name: 'text',
  first_name: 'text',
  last_name: 'text',
  instagram: 'handle',
  tiktok: 'handle',
  tags: 'list',
  note: 'text',
  status: 'status',
  code: 'list',
  rate: 'rate',
  link: 'text',
  destination_url: 'text',
  payment_email: 'email',
  payment_method: 'text',
  platform: 'text',
  external_id: 'id',
} as const satisfies Record<string, FieldType>;

const PAYMENT_FIELDS = {
  email: 'email',
  name: 'text',
  first_name: 'text',
  last_name: 'text',
  instagram: 'handle',
  tiktok: 'handle',
  code: 'list',
  payment_email: 'email',
  payment_method: 'text',
} as const satisfies Record<string, FieldType>;

const DIRECTORY_FIELDS = {
  pk: 'id',
  username: 'handle',
  full_name: 'text',
  follower_count: 'count',
  following_count: 'count',
  media_count: 'count',
  engagement_rate: 'rate',
  city: 'text',
  state: 'text',
  country: 'text',
  biography: 'text',
  category: 'text',
  niches: 'text',
  extracted_email: 'text',
  external_url: 'text',
  profile_pic_url: 'text',
  is_verified: 'text',
  gender: 'text',
  age: 'text',
  data_as_of: 'text',
} as const satisfies Record<string, FieldType>;

export const FIELDS: Readonly<Record<Kind, Readonly<Record<string, FieldType>>>> = {
  orders: ORDER_FIELDS,
  reconciliation: COMPARED_FIELDS,
  commissions: PAID_FIELDS,
  payouts: PAID_FIELDS,
  roster: ROSTER_FIELDS,
  payment_details: PAYMENT_FIELDS,
  directory: DIRECTORY_FIELDS,
};

/** Kinds whose lines of one identity are one record. */
export const isGrouped = (of: Kind): boolean => of !== 'commissions' && of !== 'payouts' && of !== 'directory';

export const isOrders = (of: Kind): boolean => of === 'orders' || of === 'reconciliation';
export const isPaid = (of: Kind): boolean => of === 'commissions' || of === 'payouts';
