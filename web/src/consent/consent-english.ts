export const consentEnglish = {
  consentTitle: (name: string) => `May ${name} act for you?`,
  consentIntro: (name: string) => `To answer you, ${name} uses other applications for you. It may use these only if you agree:`,
  consentItself: (name: string) => `${name} works in your name, and asks that you agree to that first.`,
  consentRevocable: 'You can withdraw this at any time, under “Consent” in the menu.',
  consentStands: (name: string) => `You have accepted this. ${name} may act for you.`,
  consentNothingRequired: (name: string) => `${name} needs no consent.`,
  consentOthers: 'It uses these as well; they need no consent:',
  consentGraph: (name: string) => `What ${name} uses`,
  decline: 'Decline',
  acceptedOn: (date: string, names: string) => `Since ${date} it may use ${names}.`,
  withdraw: 'Withdraw',
  withdrawn: (name: string) => `Withdrawn. ${name} can no longer use other applications for you.`,
  declined: (name: string) => `Declined. ${name} answers, but cannot do what needs your consent.`,
  acceptedTitle: 'What you have accepted',
  acceptedNone: 'Nothing is accepted at the moment. When an application wants to use others for you, you are asked first.',
  backToChat: 'Back to the conversation',
};

export type ConsentStrings = typeof consentEnglish;
