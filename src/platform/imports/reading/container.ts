import { createHash } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import type { Stream } from './encoding.ts';
import type { Kind } from './kinds.ts';
import { BrokenFile, MappingProblem, UnsupportedFile } from './problems.ts';
import type { ByteSource } from './shapes.ts';
import { readWorkbook } from './workbook.ts';
import { openEntry, readDirectory, unpack, type ZipEntry } from './zip.ts';

const MEGABYTE = 1024 * 1024;
const MOST_BYTES = 200 * MEGABYTE;
const MOST_WORKBOOK_BYTES = 20 * MEGABYTE;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const MOST_WORKBOOK_UNPACKED = 70 * MEGABYTE;

export interface Opened {
  /** The bytes of the table: text, in whatever encoding. */
  open: Stream;
  sha256: string;
  /** The sheet of a workbook, whose text is UTF-8 with commas; null for other files. */
  sheet: string | null;
  sheets: string[];
  /** Further sheets that have a table, which is not read. */
  otherSheets: string[];
  /** Columns of a workbook whose dates a spreadsheet may have read in the wrong order. */
  halfDates: number[];
  /** Its days are counted from 1904, as spreadsheets of Macs once did. */
  is1904: boolean;
}

const readAll = (source: ByteSource): Stream =>
  async function* bytes() {
    yield* await source.read();
  };

/** Stops a stream that unpacks to more than a file may have. */
function limit(open: Stream): Stream {
  return async function* limited() {
    let bytes = 0;
    for await (const chunk of open()) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES)
        throw new BrokenFile('too_large', `The file has more than ${MOST_BYTES / MEGABYTE} MB. Split it into several.`);
      yield chunk;
    }
  };
}

async function hashSource(source: ByteSource): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of await source.read()) hash.update(chunk);
  return hash.digest('hex');
}

async function readHead(open: Stream, most = 4_096): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of open()) {
    parts.push(chunk);
    length += chunk.length;
    if (length >= most) break;
  }
  return Buffer.concat(parts).subarray(0, most);
}

const SAVE = 'Open it in a spreadsheet, and save it as .xlsx or CSV.';
const MARKUP = /^\s*(?:<!doctype html|<html|<head|<meta|<table|<style|<\?xml|<body|<div)/i;

/** Files that are not read, by how they begin: what to save instead is said. */
export function assertReadable(head: Buffer): void {
  if (head.subarray(0, 4).toString('hex') === 'd0cf11e0')
    throw new UnsupportedFile('xls', `An old Excel file, or one with a password, cannot be read. ${SAVE}`);
  if (head.subarray(0, 4).toString('latin1') === '%PDF')
    throw new UnsupportedFile(
      'pdf',
      'A PDF cannot be read. Download the list as CSV or .xlsx where the PDF came from.',
    );
  const text = head.toString('utf8').replace(/^\ufeff/, '');
  if (MARKUP.test(text) || MARKUP.test(head.toString('utf16le').replace(/^\ufeff/, '')))
    throw new UnsupportedFile('html', `The file is a page, whatever its name says. ${SAVE}`);
}

export const isArchive = (head: Buffer) => /^504b0[357]0[468]/.test(head.toString('hex', 0, 4));
const isGzip = (head: Buffer) => head[0] === 0x1f && head[1] === 0x8b;
export const isCompressed = (head: Buffer): boolean => isArchive(head) || isGzip(head);
const isWorkbook = (entries: readonly ZipEntry[]) =>
  entries.some(({ name }) => /^xl\/workbook\.(?:xml|bin)$/.test(name));

/** Files of an archive that are tables. Folders, hidden files and a Mac's additions are skipped. */
const listTables = (entries: readonly ZipEntry[]) =>
  entries.filter(({ name }) => !/(?:^|\/)(?:__MACOSX\/|\.)|\/$/.test(name) && /\.(?:csv|tsv|txt|tab)$/i.test(name));

interface ContainerRequest {
  of: Kind;
  sheet: string | undefined;
}

/** The names of hidden sheets, in the workbook's own list, and the year from which it counts days. */
async function readOwnList(
  source: ByteSource,
  entries: readonly ZipEntry[],
): Promise<{ hidden: string[]; is1904: boolean }> {
  const list = entries.find(({ name }) => name === 'xl/workbook.xml');
  if (!list || list.bytes > MEGABYTE) return { hidden: [], is1904: false };
  const xml = (await readHead(openEntry(source, list), MEGABYTE)).toString();
  const hidden = [...xml.matchAll(/<(?:\w+:)?sheet\s[^>]*>/g)].flatMap(([tag]) => {
    const name = /\sname="([^"]*)"/.exec(tag)?.[1];
    if (name === undefined || !/\sstate="(?:hidden|veryHidden)"/.test(tag)) return [];
    return [name.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: string) => ENTITIES[entity] ?? '')];
  });
  return { hidden, is1904: /<(?:\w+:)?workbookPr\s[^>]*date1904="(?:1|true)"/.test(xml) };
}

async function openWorkbook(
  source: ByteSource,
  entries: readonly ZipEntry[],
  wish: ContainerRequest,
): Promise<Omit<Opened, 'sha256'>> {
  const unpackedBytes = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  if (source.sizeBytes > MOST_WORKBOOK_BYTES || unpackedBytes > MOST_WORKBOOK_UNPACKED)
    throw new BrokenFile('too_large', 'The workbook is too large to be read. Save its sheet as CSV.');
  const parts: Uint8Array[] = [];
  for await (const chunk of await source.read()) parts.push(chunk);
  const { hidden, is1904 } = await readOwnList(source, entries);
  const { sheet, sheets, others, halfDates, csv } = await readWorkbook(Buffer.concat(parts), { ...wish, hidden });
  if (wish.sheet !== undefined && wish.sheet !== sheet)
    throw new MappingProblem('mapping.sheet', 'not_found', `is not a sheet of the file. It has ${sheets.join(', ')}.`);
  const open: Stream = async function* bytes() {
    for (let at = 0; at < csv.length; at += 65_536) yield csv.subarray(at, at + 65_536);
  };
  return { open, sheet, sheets, otherSheets: others, halfDates, is1904 };
}

async function openArchive(source: ByteSource, wish: ContainerRequest): Promise<Omit<Opened, 'sha256'>> {
  const entries = await readDirectory(source);
  if (isWorkbook(entries)) return openWorkbook(source, entries, wish);
  const isOpenDocument =
    entries.some(({ name }) => name === 'content.xml') && entries.some(({ name }) => name === 'mimetype');
  if (isOpenDocument) throw new UnsupportedFile('ods', `An OpenDocument file cannot be read. ${SAVE}`);
  const [table, ...others] = listTables(entries);
  if (!table) throw new UnsupportedFile('zip', 'The archive contains no CSV file.');
  if (others.length > 0)
    throw new BrokenFile(
      'several_tables',
      `The archive contains several tables. Send one of them: ${[table, ...others]
        .map(({ name }) => name)
        .slice(0, 10)
        .join(', ')}.`,
    );
  return {
    open: limit(openEntry(source, table)),
    sheet: null,
    sheets: [],
    otherSheets: [],
    halfDates: [],
    is1904: false,
  };
}

/** Opens what a file contains, by its bytes, never by its name. */
export async function openContainer(source: ByteSource, wish: ContainerRequest): Promise<Opened> {
  const head = await readHead(readAll(source));
  if (source.sizeBytes > MOST_BYTES)
    throw new BrokenFile('too_large', `The file has more than ${MOST_BYTES / MEGABYTE} MB. Split it into several.`);
  const sha256 = await hashSource(source);
  if (isArchive(head)) return { ...(await openArchive(source, wish)), sha256 };
  if (!isGzip(head)) {
    assertReadable(head);
    return {
      open: limit(readAll(source)),
      sha256,
      sheet: null,
      sheets: [],
      otherSheets: [],
      halfDates: [],
      is1904: false,
    };
  }
  const open = limit(async function* unpacked() {
    yield* unpack(await source.read(), createGunzip());
  });
  assertReadable(await readHead(open));
  return { open, sha256, sheet: null, sheets: [], otherSheets: [], halfDates: [], is1904: false };
}
