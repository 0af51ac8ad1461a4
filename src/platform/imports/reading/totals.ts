import { fold } from './fold.ts';

const TOTALS = new Set(
  `total|totals|grand total|sum|summe|gesamt|gesamtsumme|insgesamt|summa|somme|totaux|total général|totale|totali|suma|
   gesamtbetrag|endsumme|total amount|sum total|montant total|total general|total generale|total geral|totaalbedrag|
   totales|totaal|som|totais|soma|razem|ogółem|łącznie|итого|всего|сумма|合計|总计|合计|celkem|összesen|toplam|yhteensä|i alt`
    .split('|')
    .map(fold),
);

/** A row that adds up those above says so in one of its cells. */
export const saysTotal = (text: string): boolean => text.length < 40 && TOTALS.has(fold(text.replace(/[:.]\s*$/, '')));

const FIGURES = new Set(
  `average|avg|mean|median|count|min|max|minimum|maximum|durchschnitt|mittelwert|anzahl|moyenne|nombre|promedio|media|recuento|
   conteggio|gemiddelde|aantal|média|contagem|średnia|liczba`
    .split('|')
    .map(fold),
);
/** A row of another figure than the sum, such as the average. */
export const saysFigure = (text: string): boolean =>
  text.length < 40 && FIGURES.has(fold(text.replace(/[:.]\s*$/, '')));

const SUBTOTALS = new Set(
  'subtotal|zwischensumme|teilergebnis|ergebnis|gesamtergebnis|soustotal|subtotale|subtotaal|sumaczesciowa|podsuma'.split(
    '|',
  ),
);
const isTotalWord = (word: string) => TOTALS.has(fold(word)) || SUBTOTALS.has(fold(word));

/** The identity in `1001 Total`, `Total ana@x.example` or `Summe: 1001`, as spreadsheets label a group's subtotal; undefined for other texts. */
export function readSubtotal(text: string): string | undefined {
  if (text.length > 300 || !/[\s:]/.test(text)) return undefined;
  const [, rest = '', last = ''] = /^(.*\S)[\s:]+(\S+)$/.exec(text) ?? [];
  if (isTotalWord(last)) return rest;
  const [, first = '', after] =
    /^([^\s:]+)[\s:]+(?:(?:for|of|für|pour|de|por|di|per|voor)\s+)?(\S.*)$/i.exec(text) ?? [];
  return isTotalWord(first) ? after : undefined;
}
