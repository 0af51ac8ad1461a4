import { fold } from './fold.ts';
import { FURTHER_NAMES, FURTHER_WORDS } from './further-words.ts';
import type { Kind } from './kinds.ts';
import { splitScale } from './scale.ts';

type Words = Readonly<Record<string, string>>;

/**
 * Other tools' words for fields, in English, German, French, Spanish, Italian, Dutch, Portuguese and Polish, one
 * language a line. They are compared folded: without case, blanks, signs and accents.
 */
const PERSON: Words = {
  email: `email|e-mail|email address|e-mail address|mail|affiliate email|partner email|creator email|influencer email|partner_email|affiliate_email|user email|contact email|contact
    e-mail-adresse|mailadresse|emailadresse
    adresse e-mail|courriel|adresse mail|adresse email
    correo|correo electrónico|dirección de correo|email del afiliado
    indirizzo e-mail|indirizzo email|posta elettronica
    e-mailadres
    endereço de e-mail|endereço de email|correio eletrónico
    adres e-mail|adres email`,
  name: `name|full name|affiliate name|partner name|creator name|influencer name|affiliate|partner|creator|influencer|publisher|publisher name|media partner|ambassador|promoter|talent|kol|blogger|youtuber|tiktoker|streamer|contact name|contact person|display name|recipient name|recipient|payee
    vollständiger name|name des partners|partnername|empfänger|ansprechpartner|kontaktperson
    nom complet|nom du partenaire|affilié
    nombre completo|nombre del afiliado|afiliado
    nome completo|nome e cognome|affiliato
    volledige naam|naam
    nome do afiliado
    imię i nazwisko|pełna nazwa`,
  first_name: `first name|firstname|first|given name|partner first|fname
    vorname
    prénom
    nombre
    nome
    voornaam
    primeiro nome
    imię`,
  last_name: `last name|lastname|last|surname|family name|partner last|lname
    nachname|familienname
    nom de famille|nom
    apellido|apellidos
    cognome
    achternaam
    sobrenome|apelido
    nazwisko`,
  instagram: `instagram|profile url|profile link|social profile|social link|instagram handle|instagram username|ig handle|ig|instagram profile|instagram url|instagram account
    instagram-name|instagram-profil
    compte instagram|profil instagram
    usuario de instagram|cuenta de instagram
    profilo instagram|account instagram
    instagram-account
    perfil do instagram
    konto instagram
    photo_app`,
  tiktok: `tiktok|tiktok handle|tiktok username|tt handle|tik tok|tiktok profile|tiktok url|tiktok account
    tiktok-name|tiktok-profil
    compte tiktok
    usuario de tiktok
    profilo tiktok
    tiktok-account
    perfil do tiktok
    konto tiktok
    video_app`,
  payment_email: `payment email|paypal email|paypal address|payout email|wise email|paypal
    paypal-adresse|paypal e-mail|zahlungs-e-mail
    email paypal|adresse paypal
    correo de paypal|correo de pago
    indirizzo paypal
    paypal-adres
    e-mail do paypal|email de pagamento
    adres paypal`,
  payment_method: `payment method|payout method|method
    zahlungsart|zahlungsmethode|auszahlungsmethode
    moyen de paiement|mode de paiement
    método de pago|forma de pago
    metodo di pagamento
    betaalmethode
    método de pagamento
    metoda płatności`,
  code: `code|coupon|coupon code|discount code|promo code|referral code|codes|coupons|voucher|affiliate coupon|creator code|affiliate code|influencer code|partner code|ambassador code|personal code|promo
    gutschein|gutscheincode|rabattcode
    code promo|code de réduction
    código|cupón|código de descuento
    codice|codice sconto
    kortingscode
    cupom|código de desconto
    kod|kod rabatowy`,
};

const MONEY_WORDS: Words = {
  currency: `currency|currency code|order currency|payout currency
    währung
    devise|monnaie
    moneda|divisa
    valuta
    munteenheid
    moeda
    waluta`,
  time: `time|order time|time created|sale time|purchase time|payment time
    uhrzeit|zeit|bestellzeit
    heure|heure de commande
    hora|hora del pedido
    ora|ora ordine
    tijd
    horário
    godzina|czas`,
  time_zone: `timezone|time zone
    zeitzone
    fuseau horaire
    zona horaria
    fuso orario
    tijdzone
    fuso horário
    strefa czasowa`,
};

const STATUS = `status|state
    zustand
    statut|état
    estado
    stato
    staat
    situação
    stan`;

const ORDER: Words = {
  order_id: `order id|orderid|order_id|transaction id|id|charge id|purchase id|sale id|shopify order id|woocommerce order id|store order id|platform order id|external order id|marketplace order id
    bestell-id|bestellungs-id|auftrags-id
    id de commande|identifiant de commande
    id de pedido|id del pedido
    id ordine
    bestel-id|order-id
    id do pedido
    id zamówienia|identyfikator zamówienia`,
  order_number: `order number|order no|order no.|order #|order|order_number|order name|number|shopify order number|shopify order name|woocommerce order number|store order number|platform order number|external order number
    bestellnummer|bestellung|auftragsnummer|bestell-nr
    numéro de commande|commande|n° de commande
    número de pedido|pedido
    numero ordine|ordine
    bestelnummer|ordernummer|bestelling
    número do pedido
    numer zamówienia|zamówienie`,
  placed_at: `placed at|created at|order date|date created|date|created|ordered at|purchase date|sale date|order created|order placed|created date|order time
    datum|bestelldatum|erstellt am|kaufdatum|bestellt am
    date de commande|date d'achat|créé le
    fecha|fecha del pedido|fecha de pedido|fecha de compra|creado el
    data|data ordine|data dell'ordine|creato il
    besteldatum|orderdatum|aangemaakt op
    data do pedido|data de compra|criado em
    data zamówienia|data utworzenia|utworzono`,
  paid_at: `paid at|paid date|date paid|payment date|paid on
    bezahlt am|zahlungsdatum
    payé le|date de paiement
    pagado el|fecha de pago
    pagato il|data pagamento
    betaald op|betaaldatum
    pago em|data de pagamento
    opłacono|data płatności`,
  cancelled_at: `cancelled at|canceled at|cancelled on|date cancelled|cancellation date
    storniert am
    annulé le
    cancelado el
    annullato il
    geannuleerd op
    cancelado em
    anulowano`,
  refunded_at: `refunded at|refunded on|refund date|date refunded|returned at|returned on|return date|date returned
    erstattet am
    remboursé le
    reembolsado el
    rimborsato il
    terugbetaald op
    reembolsado em
    zwrócono`,
  amount: `amount|net sales|order amount|goods|goods amount|order value|net amount|sales
    betrag|bestellwert|warenwert|nettobetrag
    montant
    importe|monto
    importo
    bedrag
    valor|montante
    kwota`,
  subtotal: `subtotal|sub total|order subtotal|subtotal amount|order subtotal amount
    zwischensumme
    sous-total
    subtotal del pedido
    subtotale
    subtotaal
    subtotal do pedido
    suma częściowa`,
  discount: `discount|discount amount|discount total|cart discount|cart discount amount|discounts|total discount
    rabatt|rabattbetrag
    remise|réduction
    descuento
    sconto
    korting
    desconto
    rabat`,
  total: `total|order total|total amount|grand total|order total amount|total price|total paid|gross
    gesamt|gesamtbetrag|gesamtsumme|summe|brutto
    montant total|total ttc
    total del pedido|importe total
    totale|totale ordine
    totaal|totaalbedrag
    total do pedido|valor total
    suma|razem|kwota całkowita`,
  shipping: `shipping|shipping rate|shipping charge|shipping fee|shipping total|shipping amount|shipping cost|order shipping amount|delivery|postage|shipping price
    versand|versandkosten
    livraison|frais de port|frais de livraison
    envío|gastos de envío
    spedizione|spese di spedizione
    verzending|verzendkosten
    frete|envio
    wysyłka|koszt dostawy|dostawa`,
  taxes: `tax|taxes|gst|tax total|tax amount|sales tax|vat|order total tax amount|total tax|order tax
    steuer|steuern|mwst|mehrwertsteuer|ust
    taxe|tva
    impuesto|impuestos|iva
    imposta|imposte
    btw|belasting
    imposto|impostos
    podatek|vat podatek`,
  fees: `fee total|fees total|order fees|additional fees
    gebühren
    frais
    cargos
    commissioni
    toeslagen
    taxas
    opłaty`,
  refunded: `refunded|refunded amount|amount refunded|refund amount|refund|refunds|total refunded|order refund amount
    erstattet|erstattung|erstatteter betrag|rückerstattung
    remboursé|montant remboursé
    reembolsado|importe reembolsado
    rimborsato|importo rimborsato
    terugbetaald|terugbetaald bedrag
    valor reembolsado
    zwrot|kwota zwrotu`,
  refunded_tax: 'refunded tax|tax refunded',
  status: `${STATUS}|order status|financial status|payment status
    bestellstatus|zahlungsstatus
    statut de la commande|statut du paiement
    estado del pedido|estado del pago
    stato ordine|stato pagamento
    orderstatus|betaalstatus
    estado do pedido|status do pedido
    status zamówienia|status płatności`,
  test: 'test|is test|test order|is test order|test mode|test payment|test transaction|mode|testbestellung|testmodus',
  customer_email: `email|e-mail|customer email|user email|purchase email|purchaser email|billing email|billing_email|email billing|buyer email|email address|customer e-mail|contact email
    e-mail-adresse|kunden-e-mail
    adresse e-mail|e-mail du client|courriel
    correo|correo electrónico|email del cliente
    indirizzo email|email cliente
    e-mailadres|klant e-mail
    e-mail do cliente
    adres e-mail|e-mail klienta`,
  codes: `discount code|discount codes|coupon code|coupon codes|coupon(s)|coupons|coupon|code|codes|promo code|voucher|coupons used
    gutschein|gutscheincode|rabattcode
    code promo|code de réduction|code promotionnel
    cupón|código de descuento|cupones
    codice sconto|coupon utilizzati
    kortingscode
    cupom|código de desconto
    kod rabatowy|kupon`,
  click_ids: 'click id|click ids|click_id|click_ids',
  sku: 'lineitem sku|sku',
  title: 'lineitem name|product name|item name',
  quantity: 'lineitem quantity|quantity',
  line_amount: 'lineitem price|item price',
};

const PAID: Words = {
  email: PERSON.email ?? '',
  handle: `handle|username|instagram|instagram handle|tiktok|user name
    benutzername
    nom d'utilisateur
    usuario
    nome utente
    gebruikersnaam
    nome de usuário
    nazwa użytkownika`,
  name: PERSON.name ?? '',
  first_name: PERSON.first_name ?? '',
  last_name: PERSON.last_name ?? '',
  code: PERSON.code ?? '',
  amount: `amount|commission|commission amount|commission total|total commission|commission value|commission due|earnings|earned|payout|payout amount|paid amount|amount paid|commissions|commission earned|payment amount
    betrag|provision|provisionsbetrag|auszahlung|auszahlungsbetrag
    montant|commission versée|montant de la commission|paiement
    importe|comisión|importe de la comisión|pago|monto
    importo|commissione|provvigione
    bedrag|commissie|uitbetaling
    valor|comissão|pagamento
    kwota|prowizja|wypłata`,
  currency: MONEY_WORDS.currency ?? '',
  paid_at: `paid at|paid_at|date|payment date|date paid|paid on|paid date|payout date|paid|created at|transfer date
    datum|bezahlt am|zahlungsdatum|auszahlungsdatum|ausgezahlt am|buchungstag|buchungsdatum
    date de paiement|payé le|date du paiement
    fecha|fecha de pago|pagado el
    data|data pagamento|pagato il
    betaald op|betaaldatum
    data de pagamento|pago em
    data płatności|data wypłaty`,
  time: MONEY_WORDS.time ?? '',
  time_zone: MONEY_WORDS.time_zone ?? '',
  reference: `reference|ref|payout id|payment id|transaction id|transfer id|id|invoice id|reference id|commission id|conversion id|referral id|action id|reward id|reward key|trans id
    referenz|transaktionscode|zahlungs-id|verwendungszweck
    référence|numéro de transaction
    referencia|id de transacción
    riferimento|id transazione
    referentie|transactie-id
    referência|id da transação
    referencja|numer transakcji`,
  status: `${STATUS}|commission status|payout status|payment status|paid|is paid|is_paid|paid to publisher|paid to affiliate
    zahlungsstatus
    statut du paiement
    estado del pago
    stato pagamento
    betaalstatus
    estado do pagamento
    status płatności`,
  kind: 'type|commission type',
  order_id: `order id|order number|order|order_id|sale id|order no
    bestellnummer|bestell-id|bestellung
    numéro de commande|id de commande|commande
    número de pedido|id del pedido|pedido
    numero ordine|ordine
    bestelnummer|bestelling
    número do pedido
    numer zamówienia|zamówienie`,
  sale_amount: `sale amount|sales amount|order amount|order total|total sales|sale|sales|order value|revenue|conversion amount|total|net sales
    umsatz|bestellwert|verkaufsbetrag|gesamt
    montant de la vente|vente|chiffre d'affaires
    venta|importe de la venta|ventas
    vendita|importo vendita
    verkoopbedrag|omzet|verkoop
    venda|valor da venda
    sprzedaż|wartość sprzedaży`,
  fee: `fee|fees
    gebühr|entgelt
    frais
    comisión de paypal|tarifa
    tariffa
    kosten
    taxa
    opłata`,
  refunded: `${ORDER.refunded}|refunded amount|amount reversed|reversed amount|reversed|amount returned|returned amount|returned|clawback|clawbacks`,
  method: PERSON.payment_method ?? '',
};

const ROSTER: Words = {
  ...PERSON,
  tags: `tags|tag|labels|groups|group
    schlagwörter|schlagworte|gruppen
    étiquettes|mots-clés
    etiquetas
    etichette
    labels
    marcadores
    tagi|etykiety`,
  note: `note|notes|comment|comments|internal note
    notiz|notizen|notiz intern|bemerkung|kommentar
    remarque|commentaire
    nota|notas|comentario
    commento
    opmerking|notitie
    observação|comentário
    notatka|uwagi`,
  status: `${STATUS}|affiliate status|partner status`,
  rate: `rate|commission rate|commission %|commission percent|commission percentage|commission|commission value|commission amount|commission size|reward value|reward amount|payout rate|payout percentage|payout percent|revenue share
    provisionssatz|provision
    taux|taux de commission|commission
    tasa de comisión|comisión|porcentaje
    percentuale|commissione
    commissiepercentage|commissie
    taxa de comissão|comissão
    stawka|prowizja`,
  link: 'link|token|affiliate link|referral link|ref link|tracking link|slug|referral url|affiliate url',
  // The address of a website is the person's own more often than a page of the shop.
  destination_url: 'destination url|destination|target url|landing page',
  platform:
    'platform|network|social network|social media|main platform|plattform|plateforme|plataforma|piattaforma|platforma',
  external_id: 'external id|partner key|affiliate id|partner id|id|external_id|creator id',
};

const PAYMENT: Words = {
  email: PERSON.email ?? '',
  name: PERSON.name ?? '',
  first_name: PERSON.first_name ?? '',
  last_name: PERSON.last_name ?? '',
  instagram: PERSON.instagram ?? '',
  tiktok: PERSON.tiktok ?? '',
  code: PERSON.code ?? '',
  payment_email: `${PERSON.payment_email ?? ''}
    payout details|payment details|payout account|payment account|payout address|payment address|payout info|payment info|payout information|payment information|paypal account|paypal id|paypal details|wise account|wallet|wallet email|wallet address
    zahlungsdaten|auszahlungsdaten|auszahlungskonto|paypal-konto
    coordonnées de paiement|compte paypal
    datos de pago|cuenta de paypal
    dati di pagamento|conto paypal
    betaalgegevens|paypal-rekening
    dados de pagamento|conta do paypal
    dane do wypłaty|konto paypal`,
  payment_method: PERSON.payment_method ?? '',
};

const DIRECTORY: Words = {
  pk: 'pk|id|user id|profile id',
  username: `username|handle|channel info|channel|account|user name|instagram|profile|channel name|instagram name
    benutzername|kanal|profil
    nom d'utilisateur|compte
    usuario|nombre de usuario|cuenta
    nome utente|profilo
    gebruikersnaam|profiel
    usuário|nome de usuário|perfil
    nazwa użytkownika|konto`,
  full_name: 'full name|name|title',
  follower_count: `followers|follower count|subscribers|follower|subscribers count
    abonnenten|followerzahl|anzahl follower
    abonnés|nombre d'abonnés
    seguidores|suscriptores
    seguaci|iscritti
    volgers|aantal volgers
    inscritos|número de seguidores
    obserwujący|liczba obserwujących`,
  following_count: 'following|following count|abonnements|seguidos|seguiti|volgend|seguindo|obserwowani',
  media_count:
    'posts|media count|post count|number of posts|beiträge|publications|publicaciones|berichten|publicações|posty',
  engagement_rate: `engagement rate|engagement|er|60 day eng rate|eng rate|60day eng rate|eng average
    engagement-rate|interaktionsrate
    taux d'engagement
    tasa de interacción|tasa de engagement
    tasso di coinvolgimento|tasso di engagement
    betrokkenheid|engagementpercentage
    taxa de engajamento|engajamento
    wskaźnik zaangażowania|zaangażowanie`,
  city: 'city|stadt|ville|ciudad|città|stad|cidade|miasto',
  country: 'country|land|pays|país|paese|kraj|country or region|audience country',
  biography: 'biography|bio',
  state: 'state|region|province|bundesland',
  category: 'category|main category|kategorie',
  niches: 'niches|niche|topics',
  extracted_email: 'extracted email|email|e mail|email address|contact email',
  external_url: 'external url|website|bio link',
  profile_pic_url: 'profile pic url|profile picture|avatar url',
  is_verified: 'is verified|verified',
  gender: 'gender|geschlecht',
  age: 'age|alter',
  data_as_of: 'data as of',
};

const BY_KIND: Readonly<Record<Kind, Words>> = {
  orders: { ...MONEY_WORDS, ...ORDER },
  reconciliation: { ...MONEY_WORDS, ...ORDER },
  commissions: PAID,
  payouts: PAID,
  roster: ROSTER,
  payment_details: PAYMENT,
  directory: DIRECTORY,
};

/** The meanings of each folded word, by kind of file. They are collected at first use. */
const MEANINGS = new Map<Kind, ReadonlyMap<string, readonly string[]>>();

function readWords(of: Kind): ReadonlyMap<string, readonly string[]> {
  const cachedMeanings = MEANINGS.get(of);
  if (cachedMeanings) return cachedMeanings;
  const meanings = new Map<string, string[]>();
  for (const [field, text] of Object.entries(BY_KIND[of])) {
    const further = FURTHER_WORDS[FURTHER_NAMES[of]?.[field] ?? field] ?? '';
    for (const word of [field, ...text.split(/[|\n]/), ...further.split(/[|\n]/)].map(fold)) {
      const fields = meanings.get(word) ?? [];
      if (word !== '' && !fields.includes(field)) meanings.set(word, [...fields, field]);
    }
  }
  MEANINGS.set(of, meanings);
  return meanings;
}

/** A header without what stands in brackets at its end, such as `(UTC)` or `($)`, and without `in %`, `in EUR` or `in T€`. */
export const bareHeader = (header: string) =>
  splitScale(header)
    .rest.replace(/\s*[([][^()[\]]*[)\]]\s*$/, '')
    .replace(/\s+(?:in|en)\s+(?:%|[Pp]ercent|[Pp]rozent|[A-Z]{3}|\p{Sc})$/u, '');

/** The fields that a header may be, by the words of other tools. */
export function findFields(of: Kind, header: string): readonly string[] {
  const words = readWords(of);
  return words.get(fold(header)) ?? words.get(fold(bareHeader(header))) ?? [];
}
