/** The value that an erasure leaves in a column: nothing, or this text as PostgreSQL reads it. */
type Left = null | string;

/** The column by which rows are a creator's. It has their id, or that of a row of `table`. */
interface OwnerColumn {
  column: string;
  table?: string;
}

export interface PersonalTable {
  owner?: OwnerColumn;
  /** A column with an address, by which rows from before there was a creator are found, too. */
  email?: string;
  /** True: an erasure deletes the rows. */
  goes?: true;
  columns: Readonly<Record<string, Left>>;
}

/** Stands in a column that may not be empty. */
const NOBODY = 'erased';
const byCreator = { column: 'creator_id' };

/**
 * The columns with what people said or what was said of them. Erasing and telling a person what is kept of them both work
 * from this list. A test fails for a column of text, JSON or bytes that is neither here nor in `NOT_PERSONAL`.
 */
export const OF_CREATORS: Readonly<Record<string, PersonalTable>> = {
  creators: {
    owner: { column: 'id' },
    columns: { email: null, name: null, ig_handle: null, tt_handle: null, pfp_url: null, tags: '{}' },
  },
  creator_addresses: { owner: byCreator, goes: true, columns: { email: null } },
  roster_entries: { owner: byCreator, goes: true, columns: { note: null } },
  application_changes: {
    owner: { column: 'application_id', table: 'applications' },
    goes: true,
    columns: {
      creator_name: null,
      creator_photo_app: null,
      creator_video_app: null,
      message: null,
      portfolio_urls: null,
    },
  },
  applications: {
    owner: byCreator,
    email: 'creator_email',
    goes: true,
    columns: {
      creator_email: null,
      creator_name: null,
      creator_photo_app: null,
      creator_video_app: null,
      message: null,
      portfolio_urls: null,
      note: null,
    },
  },
  brief_recipients: { owner: byCreator, goes: true, columns: { email: null } },
  briefs: {
    owner: byCreator,
    columns: { title: NOBODY, instructions: null, talking_points: '{}', do_not: '{}', mood_board_urls: '{}' },
  },
  contracts: {
    owner: byCreator,
    columns: {
      title: NOBODY,
      usage_rights: null,
      terms: null,
      document: '',
      content_hash: null,
      signer_name: null,
      signer_ip_sealed: null,
      signer_agent_sealed: null,
    },
  },
  deliverable_submissions: {
    owner: { column: 'deliverable_id', table: 'deliverables' },
    columns: { content_url: null, caption: null, feedback: null },
  },
  deliverables: {
    owner: byCreator,
    columns: { instructions: null, content_url: null, caption: null, declined_reason: null, feedback: null },
  },
  messages: {
    owner: { column: 'conversation_id', table: 'conversations' },
    goes: true,
    columns: { subject: null, body: null },
  },
  conversations: { owner: byCreator, goes: true, columns: {} },
  shipments: {
    owner: byCreator,
    columns: {
      tracking_number: null,
      product_description: null,
      products: null,
      shipping_address: null,
      notes: null,
      tracking_status: null,
      tracking_events: '[]',
      tracking_ref: null,
      tracking_error: null,
    },
  },
  content_short_links: {
    owner: { column: 'canonical_key', table: 'content' },
    goes: true,
    columns: { short_key: null },
  },
  content: { owner: byCreator, columns: { url: NOBODY, canonical_key: NOBODY, caption: null, refresh_error: null } },
  assets: { owner: byCreator, columns: { name: NOBODY, tags: '{}', usage_rights: null, rights: null } },
  links: { owner: byCreator, columns: { creator_name: null } },
  commissions: {
    owner: byCreator,
    columns: { status_note: null, note_before_rejection: null, claw_back_reason: null },
  },
  payouts: { owner: byCreator, columns: { wallet_email: null, note: null, correction_reason: null } },
  payment_profiles: {
    owner: byCreator,
    goes: true,
    columns: { wallet_email: null, legal_name: null, country: null, waiting: null, requested: null },
  },
  disputes: { owner: byCreator, columns: { message: NOBODY, answer: null } },
  job_lines: { owner: byCreator, goes: true, columns: { planned: null, outcome: null } },
};

/** Tables with people who buy, whose rows are found by orders. */
export const OF_CUSTOMERS: Readonly<Record<string, PersonalTable>> = {
  orders: { columns: { customer_email: null, customer_hash: null, customer_id_hash: null } },
  customers: { columns: { customer_email: null } },
  customer_keys: { columns: { key: null } },
  store_deliveries: { columns: { headers: '{}', body: '', reason: null, notes: '[]' } },
};

/** Columns of what happened, which may mention anybody: what is found of the person in them is taken out. */
export const MENTIONS: Readonly<Record<string, readonly string[]>> = {
  outbox: ['data'],
  audit_log: ['old_values', 'new_values'],
  webhook_deliveries: ['own_data'],
  webhook_attempts: ['error', 'response_excerpt'],
  plans: ['changes'],
  mails: ['to_email', 'params', 'error', 'subject_row'],
  mail_suppressions: ['email'],
  imports: ['file_name', 'mapping', 'options', 'reading', 'plan', 'stored', 'result', 'error'],
  import_lines: ['content'],
  import_writes: ['before'],
  jobs: ['request', 'cursor', 'error', 'result'],
  idempotency_keys: ['answer'],
  data_requests: ['selector', 'reason', 'refusal', 'books'],
};

const split = (text: string): readonly string[] => text.split(' ');

/** The brand's own words, in which it may have written of anybody: the person's names are replaced. */
export const OWN_WORDS: Readonly<Record<string, readonly string[]>> = {
  alerts: ['name'],
  api_keys: ['name'],
  asset_folders: ['name'],
  campaigns: ['title', 'description'],
  costs: ['note'],
  creator_groups: ['name'],
  creator_lists: ['name', 'note'],
  import_mappings: ['mapping'],
  reports: ['name'],
  saved_searches: ['name'],
  shipment_shares: ['title', 'campaign_name'],
  webhook_subscriptions: ['description'],
};

/** Each scope has one of these names. */
export const NAMES_OF_THEIR_OWN: readonly string[] = [
  'asset_folders.name',
  'creator_groups.name',
  'saved_searches.name',
];

/** Columns of `OF_CREATORS` with what the row's own creator is known and found by, and no words of anybody: of others they stay. */
export const IDENTITIES: Readonly<Record<string, readonly string[]>> = {
  creators: split('email name ig_handle tt_handle pfp_url'),
  creator_addresses: split('email'),
  application_changes: split('creator_name creator_photo_app creator_video_app'),
  applications: split('creator_email creator_name creator_photo_app creator_video_app'),
  brief_recipients: split('email'),
  contracts: split('document content_hash signer_name signer_ip_sealed signer_agent_sealed'),
  shipments: split('tracking_number tracking_ref'),
  content_short_links: split('short_key'),
  content: split('url canonical_key refresh_error'),
  links: split('creator_name'),
  payouts: split('wallet_email'),
  payment_profiles: split('wallet_email legal_name country waiting requested'),
};

/** A text that others were sent to sign stays as both sides have it. */
const WHERE: Readonly<Record<string, string>> = { contracts: "coalesce(own.document, '') = ''" };

/** Tables of which an earlier text is sealed, as a commitment whose salt goes. */
const SEALED: readonly string[] = ['commissions', 'payouts', 'disputes'];

interface FreeTexts {
  table: string;
  columns: readonly string[];
  /** The rows of it, as SQL. */
  where: string;
  isSealed: boolean;
}

/** Columns of texts about others in which a person may be named: all that are personal or the brand's own words, but identities. */
export function listFreeTexts(): FreeTexts[] {
  const personal = Object.entries(OF_CREATORS).map(([table, { columns }]) => {
    const identities = IDENTITIES[table] ?? [];
    return { table, columns: Object.keys(columns).filter((column) => !identities.includes(column)) };
  });
  const own = Object.entries(OWN_WORDS).map(([table, columns]) => ({ table, columns }));
  return [...personal, ...own]
    .filter(({ columns }) => columns.length > 0)
    .map((one) => ({ ...one, where: WHERE[one.table] ?? 'true', isSealed: SEALED.includes(one.table) }));
}

/**
 * Every other column of text, JSON or bytes. Not personal are codes and slugs (shops and orders have them), references of payouts,
 * the brand's own people and settings, and what only has ids, amounts, states and hashes of neither.
 */
export const NOT_PERSONAL: Readonly<Record<string, readonly string[]>> = {
  access_tokens: split('hash'),
  agent_grants: split(
    'client_hash client_name redirect_uri scopes code_hash code_challenge refresh_hash spent_refresh_hash',
  ),
  agent_policies: split('allowed_tools'),
  alert_firings: split('key'),
  alerts: split('metric dimension condition span currency timezone recipients error'),
  api_keys: split('kind hash first_characters last_characters replaced_by limits'),
  applications: split('status'),
  asset_uploads: split('storage_key'),
  assets: split('type mime_type sha256 storage_key thumbnail_key thumbnail_state source'),
  attribution_rules: split('model coupon_policy min_order_currency customer_policy'),
  audit_log: split('operation'),
  brands: split('name logo contact_name contact_email website industry description currency time_zone sample'),
  briefs: split('status content_type platform'),
  campaigns: split('status campaign_type compensation_type compensation_currency platforms content_types'),
  commission_adjustments: split('cause currency'),
  commission_parts: split('rule name'),
  commissions: split(
    'source currency status rejected_from fraud_flags discount_code affiliate_code decided_facts room',
  ),
  content: split('platform type status'),
  content_short_links: split('canonical_key'),
  contract_items: split('type platform'),
  contracts: split('status compensation_type compensation_currency expired_reason'),
  costs: split('scope sku kind currency'),
  creators: split('erased_by'),
  credit_entries: split('kind'),
  credit_months: split('month sha256'),
  credit_sums: split('month sha256'),
  customer_keys: split('kind'),
  customer_salt: split('salt'),
  customers: split('terms origin products reason'),
  data_requests: split('kind subject source state removed leftovers'),
  deliverable_submissions: split('asset_ids'),
  deliverables: split('type platform status asset_ids'),
  directory_changes: split('alias kind version lines'),
  directory_forget_requests: split('email address_hash'),
  directory_forgotten: split('named reason requested_by pks removed kept'),
  directory_forgotten_hashes: split('kind hash'),
  directory_forgotten_key: split('key'),
  directory_imports: split(
    'alias state index_name identity files max_rejects rejects_file failure bounds fill comparison reasons source mapping',
  ),
  directory_mappings: split('alias source header_hash mapping'),
  directory_writers: split('alias command holder token process'),
  directory_writes: split('alias index_name kind file'),
  disputes: split('status'),
  export_schedules: split('of format columns bucket prefix endpoint region credentials error time_zone'),
  figures_history: split('history'),
  fraud_rules: split('rules'),
  idempotency_keys: split('key request_hash'),
  import_lines: split('outcome kind'),
  import_mappings: split('of source headers header_hash'),
  import_writes: split('noun'),
  imports: split('of status source sha256 storage_key erased_hashes'),
  installation: split('home'),
  integrations: split(
    'provider name storefront_url storefront_host base_url currency status secrets api_version webhook_state missing_webhooks webhook_problem source_name renewal_tags first_tags time_zone parting_secrets',
  ),
  job_files: split('name mime_type storage_key sha256'),
  job_lines: split('currency'),
  jobs: split('kind status claim lost_claims'),
  ledger_batches: split('ranges'),
  ledger_entries: split('kind currency postings hash'),
  ledger_verifications: split('ledger_hash seal_hash'),
  link_past_codes: split('code'),
  link_slugs: split('slug'),
  links: split('type value slug destination_url currency platform'),
  listed_creators: split('added_by'),
  mail_stops: split('address'),
  mails: split('kind state reason'),
  messages: split('sender email_state'),
  order_clicks: split('click'),
  order_disputes: split('status'),
  order_items: split('items'),
  order_refunds: split('currency'),
  orders: split('currency attribution kind order_number country erased_by unpaid_lines'),
  outbox: split('event'),
  outbox_numbers: split('ledger_hash seal_hash'),
  outbox_positions: split('consumer'),
  passkey_challenges: split('challenge'),
  passkeys: split('public_key transports origin name'),
  past_commissions: split('source reference currency known_by'),
  payment_profiles: split('method currency source'),
  payouts: split('currency method status reference settled_ids undone'),
  people: split('email name role mails_off'),
  plans: split('operation request events applied_by'),
  reconciliations: split('plan'),
  reconciled_orders: split('currency order_number'),
  relay_parts: split('holder'),
  reports: split('operation parameters every at timezone recipients error'),
  roster_entries: split('status'),
  saved_search_known: split('pks'),
  saved_searches: split('filters problem alert_every alert_mail'),
  seal_conversions: split('old_hash new_hash'),
  row_counts: split('table_name'),
  sealed_rows: split('table_name key found_hash facts salt'),
  seals: split('ledger_hash hash'),
  shipment_shares: split('logo_url'),
  shipments: split('carrier status'),
  sign_in_links: split('hash'),
  spent_refresh_tokens: split('hash sealed_next'),
  statements: split('from_text to_text ledger_hash totals time_zone'),
  store_authorizations: split('base_url token_hash keys'),
  store_backfills: split('cursor problem'),
  store_deliveries: split('topic state'),
  store_delivery_claims: split('owner'),
  store_sweeps: split('cursor'),
  subscriptions: split('kind plan status'),
  terms: split('place terms hash'),
  webhook_attempts: split('outcome'),
  webhook_deliveries: split('event state last_error'),
  webhook_subscriptions: split('variant url events secret secret_hint previous_secret disabled_reason'),
  work_claims: split('work turn'),
};
