import type { Kind } from './kinds.ts';

/**
 * Words for fields in Swedish, Danish and Norwegian, Finnish, Czech, Hungarian, Turkish, Russian, Japanese and Chinese,
 * and for people also in Korean, Arabic, Hebrew, Greek, Ukrainian, Romanian and Vietnamese, one language a line, where
 * several tools write them. Words that mean two amounts stand nowhere.
 */
export const FURTHER_WORDS: Readonly<Record<string, string>> = {
  email: `e-post|e-postadress
    e-mailadresse|e-postadresse
    sähköposti|sähköpostiosoite
    e-mailová adresa
    e-mail cím
    e-posta|e-posta adresi
    эл. почта|электронная почта|почта
    メールアドレス|メール
    邮箱|电子邮件|电子邮箱
    이메일|이메일 주소|메일
    البريد الإلكتروني|البريد الالكتروني|الايميل|الإيميل|ايميل
    אימייל|דואר אלקטרוני|מייל
    ηλεκτρονικό ταχυδρομείο|διεύθυνση email
    електронна пошта|ел. пошта|пошта|електронна адреса
    adresă de e-mail|adresa de email
    địa chỉ email|thư điện tử`,
  name: `namn
    navn|fulde navn
    nimi
    jméno a příjmení
    teljes név|név
    ad soyad|ad ve soyad
    имя и фамилия|фио
    氏名|名前|お名前
    姓名
    이름|성명|성함
    الاسم|الاسم الكامل|اسم المؤثر
    שם|שם מלא
    όνομα|ονοματεπώνυμο
    піб|повне імʼя|імʼя та прізвище
    nume complet|nume și prenume
    họ và tên|họ tên`,
  first_name: `förnamn
    fornavn
    etunimi
    jméno
    keresztnév
    ad|adı
    имя
    名
    名
    
    الاسم الأول
    שם פרטי
    
    імʼя
    prenume
    `,
  last_name: `efternamn
    efternavn|etternavn
    sukunimi
    příjmení
    vezetéknév
    soyad|soyadı
    фамилия
    姓|苗字
    姓|姓氏
    
    اسم العائلة
    שם משפחה
    επώνυμο
    прізвище
    nume de familie
    họ`,
  code: `rabattkod
    rabatkode|rabattkode
    alennuskoodi
    slevový kód
    kuponkód
    kupon kodu|indirim kodu
    промокод|купон
    クーポンコード
    优惠码|折扣码|优惠券
    할인코드|쿠폰코드|쿠폰
    كود الخصم|كود|رمز الخصم
    קוד קופון|קופון|קוד הנחה
    κουπόνι|κωδικός έκπτωσης
    промокод|код знижки
    cod de reducere|cod promoțional
    mã giảm giá|mã khuyến mãi`,
  instagram: `インスタグラム|インスタ
    인스타그램|인스타
    انستغرام|انستقرام|إنستغرام|إنستجرام|انستا
    אינסטגרם
    инстаграм|инстаграмм|инста
    інстаграм`,
  tiktok: `ティックトック
    틱톡
    تيك توك
    טיקטוק
    тикток|тик ток
    тікток`,
  order_number: `ordernummer|beställningsnummer
    ordrenummer|bestillingsnummer
    tilausnumero
    číslo objednávky
    rendelésszám
    sipariş no|sipariş numarası
    номер заказа|№ заказа
    注文番号
    订单号|订单编号`,
  placed_at: `orderdatum|beställningsdatum
    ordredato|bestillingsdato|dato
    tilauspäivä|päivämäärä
    datum objednávky
    rendelés dátuma|dátum
    sipariş tarihi|tarih
    дата заказа|дата
    注文日|注文日時
    下单时间|订单日期`,
  paid_at: `betaldatum|betald
    betalingsdato|betalt|dato
    maksupäivä
    datum platby
    fizetés dátuma
    ödeme tarihi
    дата оплаты|дата выплаты
    支払日
    支付时间`,
  currency: `valutakod
    valuta
    valuutta
    měna
    pénznem
    para birimi
    валюта
    通貨
    币种|货币`,
  subtotal: `delsumma
    subtotal|delsum
    välisumma
    mezisoučet
    részösszeg
    ara toplam
    подытог
    小計|商品小計
    小计`,
  total: `totalt|totalbelopp|summa
    i alt|totalbeløb|totalbeløp
    yhteensä
    celkem
    végösszeg|összesen
    toplam|genel toplam
    итого|всего
    合計|総額
    合计|总计`,
  shipping: `frakt
    fragt|frakt
    toimituskulut
    doprava|poštovné
    szállítás|szállítási díj
    kargo|kargo ücreti
    доставка|стоимость доставки
    送料
    运费`,
  taxes: `moms
    moms|mva
    alv
    dph
    áfa
    kdv
    ндс|налог
    消費税|税
    税费|税额`,
  discount: `rabatt
    rabat
    alennus
    sleva
    kedvezmény
    indirim
    скидка
    割引
    折扣`,
  refunded: `återbetalt|återbetalning
    refunderet|tilbagebetalt|refundert
    palautettu
    vráceno
    visszatérítve
    iade
    возврат|возвращено
    返金|返金額
    退款|退款金额`,
  commission: `provision
    provisjon|kommission
    komissio
    provize
    jutalék
    komisyon
    комиссия|вознаграждение
    コミッション|報酬
    佣金`,
  status: `orderstatus
    ordrestatus
    tila
    stav|stav objednávky
    állapot|rendelés állapota
    durum|sipariş durumu
    статус|статус заказа|состояние
    ステータス|状態
    状态|订单状态`,
};

/** Fields that have another name in a kind of file. */
export const FURTHER_NAMES: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>> = {
  orders: { customer_email: 'email', codes: 'code' },
  reconciliation: {},
  commissions: { amount: 'commission', order_id: 'order_number' },
  payouts: { amount: 'commission', order_id: 'order_number' },
};
