import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyRecords } from '../../src/affiliates/ledger/verify-ledger.ts';
import type { Db } from '../../src/kit/engines/postgres/open.ts';
import { makeMoneyStory, type Story } from '../harness/affiliates/money-story.ts';
import { startApp, type TestApp } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';

let app: TestApp;
let story: Story;

beforeAll(async () => {
  // A rebuild holds up every click: those of other tests are in another database.
  app = await startApp({ urls: { redis: ownRedis() } });
  const found = await makeMoneyStory(app);
  ({ story } = found);
});
afterAll(() => app?.close());

/** With ids of the story in place of their names. */
const filled = (text: string, quote = "'") =>
  text.replaceAll(/\$(\w+)/g, (_, name: string) => `${quote}${story[name] ?? name}${quote}`);

const edit = async (db: Db, statement: string) => await sql.raw(filled(statement)).execute(db);

class Undone extends Error {}

/** What verify finds in PostgreSQL after an edit by who owns the database, which is then undone. `quiet`: no trigger fires. */
async function foundAfter(statement: string, isQuiet: boolean): Promise<string[]> {
  let problems: string[] = [];
  const run = app.context.postgres.db.transaction().execute(async (trx) => {
    if (isQuiet) await sql`set local session_replication_role = replica`.execute(trx);
    const { numAffectedRows } = await edit(trx, statement);
    expect(numAffectedRows ?? 1n, statement).toBeGreaterThan(0n);
    problems = await verifyRecords(trx, story.brand ?? '').then((found) => found.problems);
    throw new Undone();
  });
  await expect(run).rejects.toThrow(Undone);
  return problems;
}

/** A line each: what is edited, the statement, and how verify's complaint reads. */
const listed = (text: string): [what: string, statement: string, complaint: string][] =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const [what = '', statement = '', complaint = ''] = line.split(' ~ ');
      return [what, statement, complaint];
    });

const OF_ROWS = `
a commission’s creator ~ update commissions set creator_id = $ann where id = $due ~ ^commission $due: creator_id is "$ann", sealed as "$bo"
a paid commission’s creator ~ update commissions set creator_id = $bo where id = $paid ~ ^commission $paid: creator_id is "$bo"
a commission’s currency ~ update commissions set currency = 'EUR' where id = $due ~ ^commission $due: currency is "EUR", sealed as "USD"
a commission’s rate ~ update commissions set commission_rate_ppm = 900000 where id = $due ~ ^commission $due: commission_rate_ppm is 900000, sealed as 100000
a commission’s amount ~ update commissions set commission_minor = 60000 where id = $due ~ ^commission $due: commission_minor is 60000
an unpaid order’s commission ~ update commissions set commission_minor = 9000 where id = $unpaid ~ ^commission $unpaid: commission_minor
a commission’s assignment ~ update commissions set link_id = $code where id = $due ~ ^commission $due: link_id is "$code", sealed as "$boCode"
a commission’s order ~ update commissions set order_id = null where id = $due ~ ^commission $due: order_id is nothing, sealed as "$dueOrder"
a commission’s day ~ update commissions set occurred_at = occurred_at - interval '1 year' where id = $due ~ ^commission $due: occurred_at
the end of a commission’s review period ~ update commissions set hold_ends_at = now() where id = $returned ~ ^commission $returned: hold_ends_at
when a commission’s order was paid ~ update commissions set paid_at = now() where id = $due ~ ^commission $due: paid_at
when a commission was approved ~ update commissions set approved_at = null where id = $due ~ ^commission $due: approved_at
a commission’s status ~ update commissions set status = 'approved' where id = $returned ~ ^commission $returned: status is "approved", sealed as "pending"
a rejected commission’s status ~ update commissions set status = 'pending' where id = $rejected ~ ^commission $rejected: status
a rejected commission’s reason ~ update commissions set rejected_from = null where id = $cancelled ~ ^commission $cancelled: rejected_from
what is refunded of a commission ~ update commissions set refunded_minor = 0 where id = $refunded ~ ^commission $refunded: refunded_minor is 0
a commission’s warnings ~ update commissions set fraud_flags = '[{"severity": "high"}]' where id = $due ~ ^commission $due: fraud_flags
a commission without an order ~ update commissions set creator_id = $ann where id = $manual ~ ^commission $manual: creator_id
a commission that is deleted while unpaid ~ delete from commissions where id = $unpaid ~ ^commission $unpaid: it was sealed and is gone
an approved commission that is deleted ~ delete from commissions where id = $due ~ ^commission $due: it was sealed and is gone
a commission that is added ~ insert into commissions select (jsonb_populate_record(one, '{"id": "com_new", "order_id": null}')).* from commissions one where id = $manual ~ ^commission com_new: it was not written by Rollcall
a payout’s creator ~ update payouts set creator_id = $bo where id = $settled ~ ^payout $settled: creator_id is "$bo", sealed as "$ann"
an open payout’s creator ~ update payouts set creator_id = $bo where id = $open ~ ^payout $open: creator_id
a payout’s currency ~ update payouts set currency = 'EUR' where id = $settled ~ ^payout $settled: currency
a payout’s day ~ update payouts set paid_at = paid_at - interval '40 days' where id = $settled ~ ^payout $settled: paid_at
a payout’s wallet ~ update payouts set wallet_email = 'thief@mail.example' where id = $wallet ~ ^payout $wallet: wallet_email is "thief@mail.example"
a payout’s reference ~ update payouts set reference = 'SEPA 10' where id = $settled ~ ^payout $settled: reference is "SEPA 10", sealed as "SEPA 9"
a payout’s way ~ update payouts set method = 'manual' where id = $wallet ~ ^payout $wallet: method
a settled payout’s amount ~ update payouts set amount_minor = 9000 where id = $settled ~ ^payout $settled: amount_minor is 9000, sealed as 4000
an open payout’s amount ~ update payouts set amount_minor = 90000 where id = $open ~ ^payout $open: amount_minor is 90000, sealed as 50000
what a payout left ~ update payouts set unallocated_minor = 0 where id = $settled ~ ^payout $settled: unallocated_minor
which commissions a payout paid ~ update payouts set settled_ids = '{}' where id = $settled ~ ^payout $settled: settled_ids is not what was sealed
an open payout that is set to paid ~ update payouts set status = 'paid', paid_at = now() where id = $open ~ ^payout $open: paid_at .*; status
an open payout that is deleted ~ delete from payouts where id = $open ~ ^payout $open: it was sealed and is gone
a payout that is added ~ insert into payouts select (jsonb_populate_record(one, '{"id": "pay_new"}')).* from payouts one where id = $open ~ ^payout pay_new: it was not written by Rollcall
what a payout paid of a commission ~ update payout_allocations set amount_minor = 1 where commission_id = $paid ~ ^allocation of commission $paid $wallet: amount_minor is 1
which payout paid a commission ~ update payout_allocations set payout_id = $settled where commission_id = $paid ~ ^allocation of commission $paid $settled: it was not written
when a commission was paid ~ update payout_allocations set at = now() where commission_id = $paid ~ ^allocation of commission $paid $wallet: at
an allocation that is deleted ~ delete from payout_allocations where commission_id = $paid ~ ^allocation of commission $paid $wallet: it was sealed and is gone
what is taken back of a commission ~ update commission_adjustments set amount_minor = 1 where commission_id = $paid ~ ^adjustment of commission $paid \\S+: amount_minor is 1, sealed as 2000
of whom it is taken back ~ update commission_adjustments set creator_id = $bo where commission_id = $paid ~ ^adjustment of commission $paid \\S+: creator_id
an adjustment that is deleted ~ delete from commission_adjustments where commission_id = $paid ~ ^adjustment of commission $paid \\S+: it was sealed and is gone
an order’s currency ~ update orders set currency = 'EUR' where id = $dueOrder ~ ^order $dueOrder: currency
an order’s cancellation ~ update orders set cancelled_at = now() where id = $dueOrder ~ ^order $dueOrder: cancelled_at is ".*", sealed as nothing
a cancelled order ~ update orders set cancelled_at = null, first_cancelled_at = null where id = $cancelledOrder ~ ^order $cancelledOrder: cancelled_at is nothing
an order’s worth ~ update orders set base_minor = 1 where id = $paidOrder ~ ^order $paidOrder: base_minor is 1
an order’s payment ~ update orders set paid_at = null where id = $dueOrder ~ ^order $dueOrder: paid_at
why an order counts ~ update orders set attribution = '{}' where id = $dueOrder ~ ^order $dueOrder: attribution is not what was sealed
an order’s customer ~ update orders set customer_hash = null where id = $dueOrder ~ ^order $dueOrder: customer_hash
an order that is nobody’s and is deleted ~ delete from orders where brand_id = $brand and id not in (select order_id from commissions where order_id is not null) ~ ^order ord_\\w+: it was sealed and is gone
an order’s deletion by its store ~ update order_heads set deleted_at = null where brand_id = $brand and deleted_at is not null ~ ^head of order $store \\S+: deleted_at is nothing
until when refunds were listed ~ update order_heads set refunds_listed_at = null where brand_id = $brand and refunds_listed_at is not null ~ ^head of order $store \\S+: refunds_listed_at
a refund’s amount ~ update order_refunds set amount_minor = 1 where brand_id = $brand and refund_id = 'early' ~ ^refund of order $store \\S+ early: amount_minor is 1, sealed as 500
a refund’s time ~ update order_refunds set at = now() where brand_id = $brand and refund_id = 'early' ~ ^refund of order $store \\S+ early: at
a refund that is taken back ~ update order_refunds set told_at = told_at + interval '1 day' where brand_id = $brand and refund_id = 'r1' ~ ^refund of order $store \\S+ r1: told_at
a refund that is deleted ~ delete from order_refunds where brand_id = $brand and refund_id = 'early' ~ ^refund of order $store \\S+ early: it was sealed and is gone
a refund that is added ~ insert into order_refunds select (jsonb_populate_record(one, '{"refund_id": "new"}')).* from order_refunds one where brand_id = $brand and refund_id = 'early' ~ ^refund of order $store \\S+ new: it was not written
whose a code is ~ update links set creator_id = $bo where id = $code ~ ^assignment $code: creator_id is "$bo", sealed as "$ann"
a code’s rate ~ update links set commission_rate_ppm = 900000 where id = $code ~ ^assignment $code: commission_rate_ppm
a code ~ update links set value = 'STOLEN' where id = $code ~ ^assignment $code: value is "STOLEN"
when a code was active ~ update link_states set active = true where link_id = $boCode ~ ^state of assignment $boCode \\S+: active is true, sealed as false
whose an earlier code was ~ update link_past_codes set link_id = $code where link_id = $boCode ~ ^earlier code of assignment $code \\S+ \\S+: it was not written
where a short link leads ~ update link_slugs set link_id = $code where link_id = $link ~ ^slug \\S+: link_id is "$code", sealed as "$link"
a creator’s address ~ update creators set email = 'thief@mail.example' where id = $bo ~ ^creator $bo: email is "thief@mail.example"
a statement’s creator ~ update statements set creator_id = $bo where id = $statement ~ ^statement $statement: creator_id
the hash that a statement names ~ update statements set ledger_hash = '\\x00' where id = $statement ~ ^statement $statement: ledger_hash
what a creator asked ~ update disputes set message = 'Thank you!' where id = $dispute ~ ^dispute $dispute: message is not what was sealed
a dispute that is deleted ~ delete from disputes where id = $dispute ~ ^dispute $dispute: it was sealed and is gone
automatic approval ~ update brands set auto_approve_commissions = true where id = $brand ~ ^settings of brand $brand: auto_approve_commissions is true, sealed as false
a brand’s rate ~ update brands set default_commission_rate_ppm = 900000 where id = $brand ~ ^settings of brand $brand: default_commission_rate_ppm is 900000, sealed as 100000
a brand’s currency ~ update brands set currency = 'JPY' where id = $brand ~ ^settings of brand $brand: currency
how orders are attributed ~ update attribution_rules set model = 'last_click' where brand_id = $brand ~ ^attribution rules of brand $brand: model is "last_click", sealed as "first_click"
what makes an order suspicious ~ update fraud_rules set rules = '{}' where brand_id = $brand ~ ^fraud rules of brand $brand: rules
what agents may do ~ update agent_policies set money_out = true where brand_id = $brand ~ ^agent policy of brand $brand: money_out is true, sealed as false
a store’s address ~ update integrations set base_url = 'https://thief.example' where id = $store ~ ^store $store: base_url
a key that is used by somebody else ~ update api_keys set hash = sha256(hash) where brand_id = $brand and kind = 'brand' ~ ^API key \\S+: hash is not what was sealed
a key that is added ~ insert into api_keys select (jsonb_populate_record(one, '{"id": "key_new", "hash": "\\\\x01"}')).* from api_keys one where brand_id = $brand and kind = 'brand' limit 1 ~ ^API key key_new: it was not written by Rollcall
what a key may do ~ update api_keys set limits = '{"ips": null}' where brand_id = $brand and kind = 'brand' ~ ^API key \\S+: limits
whom customers pay ~ update attribution_rules set customer_policy = 'customer_wins' where brand_id = $brand ~ ^attribution rules of brand $brand: customer_policy is "customer_wins", sealed as nothing
a store’s words for renewals ~ update integrations set renewal_tags = '{first}' where id = $store ~ ^store $store: renewal_tags
a check of where a click came from ~ delete from referrer_checks where commission_id = $checked ~ ^check of the referrer of commission $checked: it was sealed and is gone
who gets a report ~ update reports set recipients = '{thief@mail.example}' where id = $report ~ ^report $report: recipients
lines of an order ~ update order_items set items = '[]' where order_id = $lines ~ ^lines of order $store $lines: items is not what was sealed
a click that a shop reported ~ update order_clicks set click = 'clk_2' where order_id = $late ~ ^click of order $store $late clk_1: it was sealed and is gone
where events are sent ~ update webhook_subscriptions set url = 'https://thief.example/' where id = $hook ~ ^webhook $hook: url
a cost ~ update costs set amount_minor = 1 where id = $cost ~ ^cost $cost: amount_minor is 1, sealed as 200
a cost that is deleted ~ delete from costs where id = $cost ~ ^cost $cost: it was sealed and is gone
a contract’s fee ~ update contracts set compensation_amount_minor = 900000 where id = $contract ~ ^contract $contract: compensation_amount_minor is 900000
what another tool paid ~ update past_commissions set amount_minor = 1 where id = $past ~ ^past commission $past: amount_minor is 1
who did something ~ update audit_log set key_id = null where brand_id = $brand and resource_id = $cost ~ ^audit entry \\S+: key_id is nothing
what was done ~ delete from audit_log where brand_id = $brand and resource_id = $cost ~ ^audit entry \\S+: it was sealed and is gone
`;

/** Edits that are set back leave nothing behind but what their triggers noted. */
const SET_BACK = `
automatic approval ~ auto_approve_commissions ~ brands ~ id = $brand ~ not auto_approve_commissions ~ ^settings of brand $brand: it was edited, or edited and set back
a commission’s creator ~ creator_id ~ commissions ~ id = $due ~ $ann ~ ^commission $due: it was edited, or edited and set back
`;

const OF_PROOFS = `
an entry’s creator ~ update ledger_entries set creator_id = $bo where brand_id = $brand and commission_id = $paid ~ ^entry \\d+ \\(led_\\w+\\): it or an entry before it is not what was hashed
an entry’s postings ~ update ledger_entries set postings = replace(postings::text, '5000', '6000')::jsonb where brand_id = $brand and commission_id = $paid ~ ^entry \\d+ 
an entry that is deleted ~ delete from ledger_entries where brand_id = $brand and seq = 3 ~ ^entries 3 to 3 are missing
the last entry that is deleted, with the head ~ with gone as (delete from ledger_entries where brand_id = $brand and seq = (select ledger_seq from outbox_numbers where brand_id = $brand)) update outbox_numbers set ledger_seq = ledger_seq - 1, ledger_hash = (select hash from ledger_entries as e where e.brand_id = $brand and e.seq = outbox_numbers.ledger_seq - 1) where brand_id = $brand ~ ^seal \\d+: the ledger no longer has the entry that was its last one then
the head’s ledger ~ update outbox_numbers set ledger_seq = ledger_seq - 1 where brand_id = $brand ~ ^the head says \\d+ entries, the last one is
the head’s hash ~ update outbox_numbers set ledger_hash = sha256(ledger_hash) where brand_id = $brand ~ ^the last entry does not have the hash
the head’s seals ~ update outbox_numbers set seal_seq = seal_seq - 1 where brand_id = $brand ~ ^the head says \\d+ seals
a seal that is deleted ~ delete from seals where brand_id = $brand and seq = 4 ~ ^seals 4 to 4 are missing
a seal’s hash ~ update seals set hash = sha256(hash) where brand_id = $brand and seq = 4 ~ ^seal 4: 
when something was sealed ~ update seals set sealed_at = sealed_at - interval '1 day' where brand_id = $brand and seq = 4 ~ ^seal 4: it or what it covers is not what was hashed
a row, with what was sealed of it ~ with wallet as (update payouts set wallet_email = 'thief@mail.example' where id = $wallet) update sealed_rows set facts = facts || '{"wallet_email": "thief@mail.example"}' where key = array[$wallet] and facts ? 'wallet_email' ~ ^seal \\d+: it or what it covers is not what was hashed
a row, with all that was sealed of it ~ with gone as (delete from payouts where id = $open) delete from sealed_rows where key = array[$open] ~ ^seal \\d+: it or what it covers
`;

describe('ledger verify', () => {
  it.each(listed(OF_ROWS))('finds %s edited, with and without triggers', async (_what, statement, complaint) => {
    const wanted = expect.stringMatching(filled(complaint, ''));
    expect(await foundAfter(statement, false)).toContainEqual(wanted);
    expect(await foundAfter(statement, true)).toContainEqual(wanted);
  });

  it.each(
    SET_BACK.trim()
      .split('\n')
      .map((line) => line.split(' ~ ')),
  )('finds %s edited and set back', async (_what, column, table, row, value, complaint = '') => {
    const wanted = expect.stringMatching(filled(complaint, ''));
    const there = `update ${table} set ${column} = ${value} where ${row}`;
    const back = `update ${table} set ${column} = (select ${column} from kept) where ${row}`;
    expect(
      await foundAfter(
        `create temporary table kept as select ${column} from ${table} where ${row}; ${there}; ${back}`,
        false,
      ),
    ).toContainEqual(wanted);
  });

  it.each(listed(OF_PROOFS))('finds %s edited behind the triggers', async (_what, statement, complaint) => {
    expect(await foundAfter(statement, true)).toContainEqual(expect.stringMatching(complaint));
  });
});
