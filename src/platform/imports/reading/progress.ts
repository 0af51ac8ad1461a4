import { isPlaceholder } from './cells.ts';
import { fold, foldWords } from './fold.ts';
import type { Glance } from './glance.ts';
import { readHeading } from './headings.ts';
import { isOrders, isPaid, type Kind } from './kinds.ts';
import { saysLoss } from './losses.ts';
import { isGood, readStatus } from './statuses.ts';
import { saysMonth } from './times.ts';

const toWords = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/).map(fold));

/** Headers that name the payment itself, below which a text says how far it is, or the way that it took. */
const PAYMENT_NOUNS = toWords(
  `payment payments payout payouts transfer transfers transaction transactions invoice invoices settlement remittance progress
   commission commissions
   zahlung zahlungen auszahlung auszahlungen überweisung überweisungen rechnung rechnungen bezahlung provision fortschritt
   paiement paiements versement versements virement virements facture factures règlement
   pago pagos transferencia transferencias factura facturas abono
   pagamento pagamenti bonifico bonifici fattura fatture pagamentos transferência transferências fatura faturas repasse
   betaling betalingen uitbetaling uitbetalingen overboeking factuur facturen
   płatność płatności wypłata wypłaty przelew przelewy faktura faktury
   ödeme ödemeler fatura utbetalning utbetaling betalning udbetaling platba platby výplata fizetés kifizetés maksu plata
   оплата выплата платёж платеж виплата 支払い 支払 入金 付款 支付 지급 결제`,
);
const ASIDE = toWords('the of my our de der die das la le el il in');

/** Words of the ways in which money is sent, and of those who send it. */
const METHODS = toWords(
  `paypal wise transferwise payoneer stripe klarna sofort giropay ideal bancontact mollie adyen skrill venmo zelle cashapp revolut
   visa mastercard maestro amex american card cards cc creditcard debit credit giftcard gift voucher store storecredit
   bank wire sepa ach swift iban bacs eft dd direct bankwire cash cheque check cod delivery invoice online manual manually
   apple google amazon shop shopify pay paypalexpress afterpay clearpay affirm twint vipps mobilepay swish blik przelewy24 p24 payu
   pix boleto upi razorpay paytm oxxo mercadopago alipay wechat kakaopay crypto bitcoin usdt other none free instant terms net prepaid
   prepayment advance postpaid karte kreditkarte vorkasse rechnung facture fattura factura faktura lastschrift überweisung bar barzahlung nachnahme gutschein kauf
   carte bancaire virement chèque espèces prélèvement tarjeta transferencia efectivo contrareembolso carta bonifico contanti
   contrassegno kaart overschrijving contant cartão transferência dinheiro przelew karta gotówka pobranie transfer bankkarte
   product products kind goods lump full deposit installment instalment instalments subscription recurring onetime monthly weekly quarterly`,
);

const isMethod = (text: string): boolean => foldWords(text).some((word) => METHODS.has(word));
/** An id, a number, a month or a page tells payments apart, and says nothing of how far each is. */
const isReference = (text: string): boolean => /\d|:\/\//.test(text) || isPlaceholder(text) || saysMonth(text);

const namesPayment = (header: string): boolean => {
  const words = foldWords(header).filter((word) => !ASIDE.has(word));
  return words.length > 0 && words.every((word) => PAYMENT_NOUNS.has(word));
};

const MOST_STATES = 8;

const INVOICES = toWords(
  'invoice invoices rechnung rechnungen facture factures factura facturas fattura fatture factuur facturen fatura faktura',
);
/** An invoice that was sent is not paid: what its states mean is asked, whatever they mean of a payment. */
export const namesInvoice = (header: string): boolean => foldWords(header).some((word) => INVOICES.has(word));

/** A column of how far each payment is: “Done” and “Not done” below “Payment”. */
export function saysProgress(header: string, seen: Glance, of: Kind): boolean {
  if (!((isOrders(of) && of !== 'reconciliation') || isPaid(of)) || !namesPayment(header)) return false;
  const { filled, money, times, counts, emails, currencies, texts, yes, no } = seen;
  if (filled === 0 || [money, times, counts, emails, currencies, yes + no].includes(filled)) return false;
  // If each text is known, a loss beside a status is asked about alone.
  const isKnown = (text: string) => isGood(readStatus(of, text)) || saysLoss(of, text);
  if (!namesInvoice(header) && [...texts].every(isKnown)) return false;
  const open = [...texts].filter((text) => !isReference(text));
  if (open.some((text) => !isMethod(text) && text.length <= 40 && readHeading(of, text) !== undefined)) return true;
  return open.length > 0 && open.length === texts.size && texts.size <= MOST_STATES && !open.some(isMethod);
}
