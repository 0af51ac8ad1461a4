import type { Assignment } from './columns.ts';
import type { Known } from './doubts.ts';
import { explain } from './judge.ts';
import { isOrders, isPaid } from './kinds.ts';
import type { BrokenFile } from './problems.ts';
import type { Resolved } from './resolve.ts';
import type {
  ByteSource,
  ColumnReading,
  Mapping,
  Question,
  Reading,
  RecordOutcome,
  Request,
  StatusReading,
} from './shapes.ts';
import { foldStatus, listMeanings, readStatus, readType } from './statuses.ts';
import type { Study } from './study.ts';
import type { Survey } from './survey.ts';
import type { Table } from './table.ts';
import { findFields } from './words.ts';

interface ReadingParts {
  table: Table;
  known: Known;
  assignment: Assignment;
  survey: Survey;
  study: Study;
  resolved: Resolved;
  questions: Question[];
  mapping: Mapping;
  reading_id: string;
}

function describeColumns({ table, assignment, survey, resolved, questions }: ReadingParts): ColumnReading[] {
  const { headers, sample } = table.shape;
  return headers.map((header, position) => {
    const fits = [...assignment.values()].filter(({ positions }) => positions.includes(position));
    const assigned = fits.find(({ field }) => resolved.plan.columns[field] === position) ?? fits[0];
    const isUndecided =
      assigned !== undefined &&
      questions.some(({ code, field }) => code === 'column_meaning' && field === assigned.field);
    const confidence = isUndecided
      ? 'asked'
      : assigned?.confidence === 'asked'
        ? 'proved'
        : (assigned?.confidence ?? null);
    const isUsed = assigned !== undefined && (isUndecided || resolved.plan.columns[assigned.field] === position);
    const profile = survey.profiles.get(position);
    const sampleCells = sample.map(({ cells }) => (cells[position] ?? '').trim()).filter((cell) => cell !== '');
    return {
      position,
      header,
      field: isUsed ? (assigned?.field ?? null) : null,
      confidence: isUsed ? confidence : null,
      by: isUsed ? (assigned?.by ?? null) : null,
      damaged: resolved.plan.damaged.includes(position),
      samples:
        profile && profile.samples.length > 0
          ? profile.samples
          : sampleCells.slice(0, 3).map((cell) => cell.slice(0, 200)),
    };
  });
}

function describeStatuses({ study, resolved, known }: ReadingParts): StatusReading[] {
  const { of } = known.request;
  const [fallback] = listMeanings(of);
  const read = (value: string) =>
    resolved.plan.statuses[foldStatus(value)] ?? readStatus(of, value) ?? readType(of, value);
  return study.tally.statuses().map(({ value, isUndecided, rows, sums }) => ({
    value,
    means: isUndecided ? 'asked' : (read(value) ?? fallback ?? 'asked'),
    lines: rows,
    sums,
  }));
}

function listSums({ study }: ReadingParts): Reading['sums'] {
  const outcomes: readonly RecordOutcome[] = ['read', 'repeated', 'left_out'];
  return outcomes.flatMap((outcome) => study.tally.sums(outcome).map((sum) => ({ outcome, ...sum })));
}

/** A header of days on which something was earned, not paid. */
const CREATED = /^(?:date )?created(?: at| date)?$|^created_at$/i;

/** Columns that say where money is to be sent, and have no addresses that are read. */
const PAID_TO =
  /\b(?:account|details|payout|payment|paypal|wise|wallet|konto|zahlungsdaten|compte|cuenta|conto|rekening)\b/i;
const NOT_PAID_TO = /\b(?:method|type|date|status|currency|amount|iban|number|holder|country|frequency|terms|owner)\b/i;

function listUnreadPayments({ shape }: Table, { plan }: Resolved, mapping: Mapping): string[] {
  if (plan.columns.payment_email !== undefined || mapping.columns?.payment_email !== undefined) return [];
  const taken = new Set(Object.values(plan.columns));
  const isFilled = (at: number) => shape.sample.some(({ cells }) => (cells[at] ?? '').trim() !== '');
  return shape.headers.filter(
    (header, at) => PAID_TO.test(header) && !NOT_PAID_TO.test(header) && !taken.has(at) && isFilled(at),
  );
}

function listWarnings({ known, resolved, study, survey, table, mapping }: ReadingParts): Reading['warnings'] {
  const warnings: Reading['warnings'] = [];
  if (known.format?.warning !== undefined) warnings.push({ code: 'format', message: known.format.warning });
  if (known.descriptionLine !== null)
    warnings.push({
      code: 'description_line',
      message: `Line ${known.descriptionLine} describes the columns, and is left out.`,
    });
  if (survey.headings.size > 0)
    warnings.push({
      code: 'headings',
      message: `Lines below a heading have the status that it names: ${[...survey.headings].map((text) => `“${text}”`).join(', ')}.`,
    });
  if (
    resolved.plan.columns.status === undefined &&
    survey.headings.size === 0 &&
    known.flags.every(({ isUnseen }) => isUnseen) &&
    known.request.of !== 'directory'
  )
    warnings.push({ code: 'no_status', message: 'The file has no status: every line counts.' });
  if (table.otherSheets.length > 0)
    warnings.push({
      code: 'other_sheets',
      message: `Only the sheet “${table.sheet}” is read. These have a table, too: ${table.otherSheets.slice(0, 10).join(', ')}.`,
    });
  if (resolved.plan.damaged.length > 0)
    warnings.push({
      code: 'damaged_ids',
      message: 'A spreadsheet has rounded or changed ids of this file; they are not used.',
    });
  const paidHeader = table.shape.headers[resolved.plan.columns.paid_at ?? -1] ?? '';
  if (isPaid(known.request.of) && CREATED.test(paidHeader) && mapping.columns?.paid_at === undefined)
    warnings.push({ code: 'days_created', message: `The days under “${paidHeader}” are taken as those of payment.` });
  const commissionWords = table.shape.headers.filter((header) => {
    const fields = findFields('commissions', header);
    return fields.includes('amount') && findFields('orders', header).length === 0;
  });
  if (isOrders(known.request.of) && commissionWords.length > 0)
    warnings.push({ code: 'looks_like', message: 'The file has columns of commissions. Is it a list of commissions?' });
  const banks = table.shape.headers.filter((header) =>
    /iban|account number|kontonummer|sort code|routing/i.test(header),
  );
  if (banks.length > 0 || study.tally.banksLost > 0)
    warnings.push({
      code: 'bank_details',
      message: `Bank details are not kept: ${banks.length > 0 ? banks.slice(0, 5).join(', ') : `those of ${study.tally.banksLost} ${study.tally.banksLost === 1 ? 'person' : 'people'}`}.`,
    });
  if (known.request.of === 'payment_details' && study.tally.ofWise > 0)
    warnings.push({
      code: 'wise_addresses',
      message: `Addresses at Wise are entered as those of wallets: ${study.tally.ofWise}. Pay these people with the file for Wise, not with that for PayPal.`,
    });
  const unreadPayments = known.request.of === 'payment_details' ? listUnreadPayments(table, resolved, mapping) : [];
  if (unreadPayments.length > 0)
    warnings.push({
      code: 'payments_unread',
      message: `No address to send money to is taken from ${unreadPayments.map((header) => `“${header}”`).join(', ')}: without one, a creator is paid at their own address.`,
    });
  if (study.tally.severalEmails > 0)
    warnings.push({
      code: 'addresses_several',
      message: `Cells with several addresses, of which only the first is read: ${study.tally.severalEmails}.`,
    });
  if (known.request.of === 'roster' && resolved.plan.columns.payment_email !== undefined)
    warnings.push({
      code: 'payment_details',
      message: 'Payment addresses are not recorded with creators: send the file once more as payment details.',
    });
  const { columns, constants } = resolved.plan;
  const hasDestinations = (columns.destination_url ?? constants.destination_url) !== undefined;
  if (columns.link !== undefined && !hasDestinations)
    warnings.push({
      code: 'links_unread',
      message:
        'Links of another tool lead to it and are not recorded. A column of destination URLs makes links to these pages.',
    });
  const ratesUnread =
    resolved.plan.columns.rate === undefined && mapping.columns?.rate === undefined
      ? table.shape.headers.filter((header) => findFields(known.request.of, header).includes('rate'))
      : [];
  if (known.request.of === 'roster' && ratesUnread.length > 0)
    warnings.push({
      code: 'rates_unread',
      message: `No rate is taken from ${ratesUnread.map((header) => `“${header}”`).join(', ')}, which has other cells than percentages: codes and links get the brand's.`,
    });
  if (study.tally.ratesLost > 0)
    warnings.push({
      code: 'rates_flat',
      message: `Rates that are amounts of money, not percentages, are not taken: ${study.tally.ratesLost}. Codes and links of these people get the brand's terms; give them their own afterwards.`,
    });
  if (survey.lost > 0)
    warnings.push({
      code: 'letters_lost',
      message: `Letters were lost before, and “\ufffd” stands in their place, in cells that are read: ${survey.lost}. Export the file again as UTF-8.`,
    });
  if (study.tally.renamed > 0)
    warnings.push({
      code: 'names_differ',
      message: `Names differ between the lines of ${study.tally.renamed} ${study.tally.renamed === 1 ? 'person' : 'people'}.`,
    });
  if (study.tally.handlesLost > 0)
    warnings.push({
      code: 'handles_unreadable',
      message: `Handles that cannot be read, or are on other platforms than Instagram and TikTok, are left out, and their creators are recorded without one: ${study.tally.handlesLost}.`,
    });
  if (study.tally.repeating > 0)
    warnings.push({
      code: 'amounts_repeat',
      message: `Orders on several lines that repeat their amount: ${study.tally.repeating}. Each amount counts once.`,
    });
  if (study.tally.counts.repeated > 0)
    warnings.push({ code: 'repeated', message: 'Some lines are in the file twice; each is recorded once.' });
  return warnings;
}

const takeFirst = <Value>(values: readonly Value[]): Value | null => values[0] ?? null;

function describeReadings({ resolved, known, mapping, survey, table }: ReadingParts): Reading['readings'] {
  const { plan } = resolved;
  const times = Object.entries(plan.times).filter(
    ([position]) => (survey.profiles.get(Number(position))?.time.ordered ?? 0) > 0,
  );
  const isFile =
    plan.utc.length > 0 || Object.keys(plan.zones ?? {}).length > 0 || plan.columns.time_zone !== undefined;
  return {
    dates: takeFirst(times.map(([, { order }]) => order)),
    time_zone: plan.timeZone,
    time_zone_by:
      mapping.time_zone !== undefined ? 'mapping' : isFile && table.shape.headers.length > 0 ? 'file' : 'brand',
    decimal: takeFirst(Object.values(plan.decimals)),
    unit: plan.unit,
    goods: plan.goods,
    tax: plan.tax ?? (isOrders(known.request.of) && plan.columns.taxes !== undefined ? 'by_line' : null),
    currency: plan.columns.currency === undefined ? plan.currency : null,
  };
}

export function describeReading(parts: ReadingParts): Reading {
  const { table, known, survey, study, questions, reading_id, resolved } = parts;
  const { tally } = study;
  return {
    status: questions.length > 0 ? 'needs_answers' : 'ready',
    reading_id,
    file: { name: table.name, size_bytes: table.sizeBytes, sha256: table.sha256 },
    format: known.format ? { key: known.format.key, name: known.format.name } : null,
    text: {
      encoding: table.encoding,
      separator: table.shape.separator,
      header_line: table.shape.headerLine,
      sheet: table.sheet,
      sheets: table.sheets,
      totals_lines: resolved.plan.totalsLines,
      repaired: survey.repaired,
      differing: survey.differing,
    },
    columns: describeColumns(parts),
    readings: describeReadings(parts),
    statuses: describeStatuses(parts),
    questions,
    counts: { ...tally.counts, lines: survey.lines },
    sums: listSums(parts),
    refusals: [...tally.refusals].map(([kind, { count, first }]) => ({
      kind,
      lines: count,
      first_lines: first,
      message: explain(kind, first),
    })),
    warnings: listWarnings(parts),
    sample: tally.sample,
  };
}

/** The reading of a file that is refused as a whole. */
export function refuseFile(
  source: ByteSource,
  table: Table | undefined,
  request: Request,
  reading_id: string,
  error: BrokenFile,
): Reading {
  const lines = error.line === null ? [] : [error.line];
  return {
    status: 'refused',
    reading_id,
    file: { name: source.name, size_bytes: source.sizeBytes, sha256: table?.sha256 ?? '' },
    format: null,
    text: {
      encoding: table?.encoding ?? '',
      separator: table?.shape.separator ?? '',
      header_line: table?.shape.headerLine ?? null,
      sheet: table?.sheet ?? null,
      sheets: table?.sheets ?? [],
      totals_lines: [],
      repaired: 0,
      differing: [],
    },
    columns: [],
    readings: {
      dates: null,
      time_zone: request.brand.timeZone,
      time_zone_by: 'brand',
      decimal: null,
      unit: 'major',
      goods: null,
      tax: null,
      currency: null,
    },
    statuses: [],
    questions: [],
    counts: { lines: 0, records: 0, read: 0, repeated: 0, left_out: 0, refused: 0 },
    sums: [],
    refusals: [
      { kind: error.kind, lines: lines.length, first_lines: lines, message: error.message, fault: error.fault },
    ],
    warnings: [],
    sample: [],
  };
}
