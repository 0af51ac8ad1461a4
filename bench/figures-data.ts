import type { ClickHouse } from '../src/kit/engines/clickhouse/open.ts';
import { command } from '../src/kit/engines/clickhouse/query.ts';
import type { PostgresServer } from './postgres-server.ts';

export const LARGEST = 'brd_0';
export const LARGEST_LINKS = 1_000;
const BRANDS = 999;
const LINKS = 20;
const FIRST_DAY = '2025-01-01';
const SECONDS = 365 * 86_400;
/** Rows of one statement, which has a minute on a busy machine too. */
const CHUNK = 100_000;

/**
 * Event `n` in both engines' SQL, by integer arithmetic alone, so that both have the same rows. `div` is integer
 * division.
 */
interface Dialect {
  div(a: string, b: number): string;
  choose(condition: string, yes: string, no: string): string;
  /** A time, in seconds after the first day. */
  time(seconds: string): string;
}

const clickhouseSql: Dialect = {
  div: (a, b) => `intDiv(${a}, ${b})`,
  choose: (condition, yes, no) => `if(${condition}, ${yes}, ${no})`,
  time: (seconds) => `toDateTime64('${FIRST_DAY}', 3, 'UTC') + toIntervalSecond(${seconds})`,
};
const postgresSql: Dialect = {
  div: (a, b) => `(${a} / ${b})`,
  choose: (condition, yes, no) => `(case when ${condition} then ${yes} else ${no} end)`,
  time: (seconds) => `'${FIRST_DAY}Z'::timestamptz + ${seconds} * interval '1 second'`,
};

const hash = (factor: number, more: number) => `((n * ${factor} + ${more}) % 4294967296)`;

/** One event in sixteen belongs to the largest brand; one in twenty is a sale. */
function facts({ div, choose, time }: Dialect) {
  const brand = hash(2_654_435_761, 0);
  const link = hash(2_246_822_519, 374_761_393);
  const number = choose(`${div(brand, 65_536)} % 16 = 0`, '0', `1 + ${div(brand, 1_048_576)} % ${BRANDS}`);
  const linkNumber = `${div(link, 4_096)} % ${choose(`brand = 0`, String(LARGEST_LINKS), String(LINKS))}`;
  return {
    brand: number,
    link: linkNumber,
    amount: `1000 + ${div(link, 1_024)} % 9000`,
    at: time(`(${hash(3_266_489_917, 668_265_263)} % ${SECONDS})`),
  };
}

const ID = {
  brand: "concat('brd_', brand)",
  link: "concat('lnk_', brand, '_', link)",
  creator: "concat('crt_', brand, '_', link)",
};

function eventsOf(dialect: Dialect, numbers: string): string {
  const { brand, link, amount, at } = facts(dialect);
  return `(SELECT n, brand, ${link} AS link, ${amount} AS amount, ${at} AS at FROM (SELECT n, ${brand} AS brand FROM ${numbers}) a)`;
}

/** Of a click, in ClickHouse's SQL: 30 countries, of which the first has most. */
const CLICK = {
  country:
    "arrayElement(splitByChar(',', 'US,DE,FR,GB,ES,IT,NL,SE,PL,AT,CH,BE,DK,NO,FI,PT,IE,CZ,GR,HU,CA,MX,BR,AR,JP,KR,AU,NZ,IN,ZA'), toUInt8(1 + intDiv(n % 900, 30) * (n % 7 > 2)))",
  device: "arrayElement(['mobile', 'mobile', 'mobile', 'desktop', 'tablet'], toUInt8(1 + n % 5))",
  referrer: "concat('ref', toString(n % 40), '.example')",
};

const POSTINGS = ['customers', 'sales', 'commission_expense', 'commission_pending'] as const;

/** A sale's posting by its line, in both engines: the amount or a tenth of it. */
const amountOf = ({ div, choose }: Dialect) =>
  choose(
    'line = 0',
    'amount',
    choose('line = 1', '-amount', choose('line = 2', div('amount', 10), `-${div('amount', 10)}`)),
  );
const accountOf = ({ choose }: Dialect) =>
  choose(
    'line = 0',
    `'${POSTINGS[0]}'`,
    choose('line = 1', `'${POSTINGS[1]}'`, choose('line = 2', `'${POSTINGS[2]}'`, `'${POSTINGS[3]}'`)),
  );

/** Inserts events from..to into ClickHouse's tables and, through its views, into the rollups. */
export async function loadClickHouse(clickhouse: ClickHouse, from: number, to: number): Promise<void> {
  for (let start = from; start < to; start += CHUNK) {
    const numbers = `(SELECT toInt64(number) AS n FROM numbers(${start}, ${Math.min(CHUNK, to - start)}))`;
    const events = eventsOf(clickhouseSql, numbers);
    const settings = 'SETTINGS insert_deduplicate = 0';
    await command(
      clickhouse,
      `INSERT INTO clicks_v1
      (click_id, brand_id, link_id, creator_id, currency, at, kind, visitor, country, device, referrer_host)
      ${settings} SELECT concat('clk_', n), ${ID.brand}, ${ID.link}, ${ID.creator}, 'USD', at, 'counted', n,
        ${CLICK.country}, ${CLICK.device}, ${CLICK.referrer}
      FROM ${events} e WHERE n % 20 != 0`,
    );
    await command(
      clickhouse,
      `INSERT INTO ledger_v1 (brand_id, seq, line, kind, account, amount_minor, currency, link_id, creator_id, at, recorded_at)
      ${settings} SELECT ${ID.brand}, n, line, 'sale', ${accountOf(clickhouseSql)}, ${amountOf(clickhouseSql)}, 'USD',
        ${ID.link}, ${ID.creator}, at, at
      FROM ${events} e ARRAY JOIN range(4) AS line WHERE n % 20 = 0`,
    );
    // Every order was won by the click before it.
    await command(
      clickhouse,
      `INSERT INTO order_figures_v1 (brand_id, seq, line, at, currency, link_id, creator_id, store_id, source, click_id, kind,
        country, device, referrer_host, orders, click_orders, sales, refunds, commission, products, product_titles,
        product_sales, product_refunds, product_commission, product_items)
      ${settings} SELECT ${ID.brand}, n, 0, at, 'USD', ${ID.link}, ${ID.creator}, 'int_0', 'shopify', concat('clk_', n + 1),
        'counted', ${CLICK.country}, ${CLICK.device}, ${CLICK.referrer}, 1, 1, amount, 0, intDiv(amount, 10),
        [concat('SKU-', n % 500)], ['Bench'], [amount], [0], [intDiv(amount, 10)], [1000]
      FROM ${events} e WHERE n % 20 = 0`,
    );
  }
}

/** The same rows in PostgreSQL, with a typical index on brand and time. */
export async function loadPostgres({ pool }: PostgresServer, events: number): Promise<void> {
  await pool.query(`
    create unlogged table clicks (click_id text, brand_id text, link_id text, creator_id text, currency text,
      at timestamptz, kind text, visitor bigint, country text, device text);
    create unlogged table ledger (brand_id text, seq bigint, line smallint, kind text, account text, amount_minor bigint,
      currency text, link_id text, creator_id text, at timestamptz)`);
  for (let start = 0; start < events; start += CHUNK) {
    const numbers = `generate_series(${start}::bigint, ${Math.min(start + CHUNK, events) - 1}) as n`;
    const rows = eventsOf(postgresSql, numbers);
    await pool.query(`insert into clicks select concat('clk_', n), ${ID.brand}, ${ID.link}, ${ID.creator}, 'USD', at,
      'counted', n, 'US', 'phone' from ${rows} e where n % 20 != 0`);
    await pool.query(`insert into ledger select ${ID.brand}, n, line, 'sale', ${accountOf(postgresSql)},
      ${amountOf(postgresSql)}, 'USD', ${ID.link}, ${ID.creator}, at
      from ${rows} e cross join generate_series(0, 3) line where n % 20 = 0`);
  }
  await pool.query('create index on clicks (brand_id, at)');
  await pool.query('create index on ledger (brand_id, at)');
  await pool.query('vacuum analyze clicks, ledger'.replace(', ledger', ''));
  await pool.query('vacuum analyze ledger');
}
