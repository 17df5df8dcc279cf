export type Language = "en" | "ar";

interface Words {
  checkout: string;
  otherLanguage: string;
  order: string;
  contract: string;
  reference: string;
  seller: string;
  milestones: string;
  price: string;
  fees: string;
  vat: string;
  total: string;
  pay: string;
  fail: string;
  held: string;
  sandbox: string;
  validUntil: string;
  expiredTitle: string;
  expired: string;
  renew: string;
  paidTitle: string;
  paid: string;
  failedTitle: string;
  failed: string;
  closedTitle: string;
  closed: string;
  unknownTitle: string;
  unknown: string;
}

/** The payment page in both languages, sentence by sentence. */
export const words: Record<Language, Words> = {
  en: {
    checkout: "Checkout",
    otherLanguage: "العربية",
    order: "Your order",
    contract: "Contract",
    reference: "Reference",
    seller: "Seller",
    milestones: "Milestones",
    price: "Amount",
    fees: "Service fees",
    vat: "VAT on fees",
    total: "Total to pay",
    pay: "Pay",
    fail: "Let the payment fail",
    held: "Your payment is held in escrow and goes to the seller only when the contract is fulfilled.",
    sandbox: "This is a sandbox: no money moves.",
    validUntil: "This page is valid until",
    expiredTitle: "This payment link has expired",
    expired: "A payment link works for ten minutes. Go back to the shop and ask for a new one.",
    renew: "For the integrator: POST /apps/api/contracts/checkout returns a new link.",
    paidTitle: "Payment received",
    paid: "Your payment is held in escrow. You may close this page.",
    failedTitle: "The payment failed",
    failed: "Nothing was charged. You may go back to the shop and try again.",
    closedTitle: "There is nothing to pay",
    closed: "This contract can't be paid any more: it was paid already, or it was ended.",
    unknownTitle: "Unknown payment link",
    unknown: "There is no such contract, or the link is incomplete.",
  },
  ar: {
    checkout: "الدفع",
    otherLanguage: "English",
    order: "طلبك",
    contract: "العقد",
    reference: "المرجع",
    seller: "البائع",
    milestones: "المراحل",
    price: "المبلغ",
    fees: "رسوم الخدمة",
    vat: "ضريبة القيمة المضافة على الرسوم",
    total: "الإجمالي المطلوب",
    pay: "ادفع",
    fail: "اجعل الدفع يفشل",
    held: "يُحفظ مبلغك في حساب الضمان ولا يُحوَّل إلى البائع إلا بعد تنفيذ العقد.",
    sandbox: "هذه بيئة تجريبية: لا تُنقل أي أموال.",
    validUntil: "هذه الصفحة صالحة حتى",
    expiredTitle: "انتهت صلاحية رابط الدفع",
    expired: "يعمل رابط الدفع لمدة عشر دقائق. عُد إلى المتجر واطلب رابطًا جديدًا.",
    renew: "للمطوّر: يعيد POST /apps/api/contracts/checkout رابطًا جديدًا.",
    paidTitle: "تم استلام الدفع",
    paid: "مبلغك محفوظ في حساب الضمان. يمكنك إغلاق هذه الصفحة.",
    failedTitle: "فشلت عملية الدفع",
    failed: "لم يُخصم أي مبلغ. يمكنك العودة إلى المتجر والمحاولة مرة أخرى.",
    closedTitle: "لا يوجد ما يُدفع",
    closed: "لم يعد بالإمكان دفع هذا العقد: إما أنه دُفع من قبل أو أنه انتهى.",
    unknownTitle: "رابط دفع غير معروف",
    unknown: "لا يوجد عقد بهذا الرقم، أو أن الرابط غير مكتمل.",
  },
};

/** `?lang=` decides, then the browser's first language. */
export function pickLanguage(asked: string | null, acceptLanguage: string | undefined): Language {
  if (asked === "ar" || asked === "en") return asked;
  return /^\s*ar\b/i.test(acceptLanguage ?? "") ? "ar" : "en";
}
