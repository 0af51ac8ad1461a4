import { isFlag, isFlagWord } from './flags.ts';
import { fold, foldWords } from './fold.ts';
import type { Glance } from './glance.ts';
import type { Kind } from './kinds.ts';
import { findFields } from './words.ts';

interface Seen {
  of: Kind;
  headers: readonly string[];
  glance: (position: number) => Glance;
}

const STATES = new Set(['state', 'estado', 'stato', 'etat', 'staat', 'stan', 'provincestate', 'region'].map(fold));
const PLACES =
  /^(?:city|town|country|zip|zipcode|postcode|postal|street|address|address1|ort|stadt|land|plz|strasse|adresse|ville|pays|ciudad|pais|cidade|cep|endereco|bairro|citta|paese|indirizzo|cap|provincia|plaats|miasto|kraj)$/;

/** “State” is a part of an address where no cell is a status and an address or another status stands beside it. */
function isOfAddress({ of, headers, glance }: Seen, position: number): boolean {
  const { states, yes, no } = glance(position);
  if (!STATES.has(fold(headers[position] ?? '')) || states + yes + no > 0) return false;
  return headers.some(
    (header, at) =>
      at !== position &&
      (foldWords(header).some((word) => PLACES.test(word)) || findFields(of, header).includes('status')),
  );
}

/** Airtable writes “checked” for a box that is ticked, and nothing for any other. */
const isCheckbox = ({ headers, glance }: Seen, position: number): boolean =>
  isFlag(glance(position)) &&
  isFlagWord(headers[position] ?? '') &&
  [...glance(position).texts].every((text) => /^(?:un)?checked$/i.test(text));

/** A word for a status stands above something else. */
export const isNoStatus = (seen: Seen, position: number): boolean =>
  isOfAddress(seen, position) || isCheckbox(seen, position);
