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
  /** Before and after the name of an endpoint. */
  renew: readonly [string, string];
  tryAgain: string;
  controlPage: string;
  verifyTitle: string;
  verify: string;
  verifyButton: string;
  verified: string;
  notices: Record<Notice, { title: string; text: string }>;
}

/** Where a buyer ends who can't pay or has no `callbackUrl` to go back to, and a user whose link names nobody. */
export type Notice = "expired" | "paid" | "failed" | "closed" | "invalid" | "unknownPerson";

/** The pages for buyers and sellers in both languages, sentence by sentence. */
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
    renew: ["For the integrator: a new link comes from", "."],
    tryAgain: "Try again",
    controlPage: "Control page of the sandbox",
    verifyTitle: "Verify your identity",
    verify:
      "The service checks who you are and that the bank account is yours. In the sandbox a click is enough.",
    verifyButton: "Complete the verification",
    verified: "Your identity and your bank account are verified.",
    notices: {
      expired: {
        title: "This payment link has expired",
        text: "A payment link works for ten minutes, until a new one replaces it. Go back to the shop and ask for a new one.",
      },
      paid: { title: "Payment received", text: "Your payment is held in escrow. You may close this page." },
      failed: {
        title: "The payment failed",
        text: "Nothing was charged. You may try again.",
      },
      closed: {
        title: "There is nothing to pay",
        text: "This contract was paid already, or it has ended.",
      },
      invalid: {
        title: "This payment link is invalid",
        text: "The service never gave out this link. Check that the address is complete.",
      },
      unknownPerson: {
        title: "This link is invalid",
        text: "The service never gave out this link. Check that the address is complete.",
      },
    },
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
    renew: ["للمطوّر: يأتي رابط جديد من", "."],
    tryAgain: "حاول مرة أخرى",
    controlPage: "لوحة التحكم في البيئة التجريبية",
    verifyTitle: "التحقق من هويتك",
    verify: "تتحقق الخدمة من هويتك ومن أن الحساب البنكي لك. في البيئة التجريبية تكفي نقرة واحدة.",
    verifyButton: "أكمل التحقق",
    verified: "تم التحقق من هويتك ومن حسابك البنكي.",
    notices: {
      expired: {
        title: "انتهت صلاحية رابط الدفع",
        text: "يعمل رابط الدفع لمدة عشر دقائق أو إلى أن يحل محله رابط جديد. عُد إلى المتجر واطلب رابطًا جديدًا.",
      },
      paid: { title: "تم استلام الدفع", text: "مبلغك محفوظ في حساب الضمان. يمكنك إغلاق هذه الصفحة." },
      failed: { title: "فشلت عملية الدفع", text: "لم يُخصم أي مبلغ. يمكنك المحاولة مرة أخرى." },
      closed: { title: "لا يوجد ما يُدفع", text: "دُفع هذا العقد من قبل أو أنه انتهى." },
      invalid: {
        title: "رابط الدفع غير صالح",
        text: "لم تُصدر الخدمة هذا الرابط. تأكد من أن العنوان مكتمل.",
      },
      unknownPerson: {
        title: "الرابط غير صالح",
        text: "لم تُصدر الخدمة هذا الرابط. تأكد من أن العنوان مكتمل.",
      },
    },
  },
};

/** `?lang=` decides, then the browser's first language. */
export function pickLanguage(asked: string | null, acceptLanguage: string | undefined): Language {
  if (asked === "ar" || asked === "en") return asked;
  return /^\s*ar\b/i.test(acceptLanguage ?? "") ? "ar" : "en";
}
