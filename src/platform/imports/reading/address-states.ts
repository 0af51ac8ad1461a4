import { fold, foldWords } from './fold.ts';
import type { Glance } from './glance.ts';
import type { Kind } from './kinds.ts';
import { findFields } from './words.ts';

const STATES = new Set(['state', 'estado', 'stato', 'etat', 'staat', 'stan', 'provincestate', 'region'].map(fold));
const PLACES =
  /^(?:city|town|country|zip|zipcode|postcode|postal|street|address|address1|ort|stadt|land|plz|strasse|adresse|ville|pays|ciudad|pais|cidade|cep|endereco|bairro|citta|paese|indirizzo|cap|provincia|plaats|miasto|kraj)$/;

/** “State” is a part of an address where no cell is a status and an address or another status stands beside it. */
export function isOfAddress(
  { of, headers, glance }: { of: Kind; headers: readonly string[]; glance: (position: number) => Glance },
  position: number,
): boolean {
  const { states, yes, no } = glance(position);
  if (!STATES.has(fold(headers[position] ?? '')) || states + yes + no > 0) return false;
  return headers.some(
    (header, at) =>
      at !== position &&
      (foldWords(header).some((word) => PLACES.test(word)) || findFields(of, header).includes('status')),
  );
}
