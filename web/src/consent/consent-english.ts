export const consentEnglish = {
  consentTitle: (name: string) => `May ${name} act for you?`,
  consentIntro: (name: string) =>
    `To answer you, ${name} uses other applications in your name. It may use these only if you agree:`,
  consentItself: (name: string) => `${name} acts in your name and needs your permission first.`,
  consentRevocable: 'You can withdraw this at any time, under “Permissions” in the menu.',
  consentStands: (name: string) => `You have accepted this. ${name} may act for you.`,
  consentNothingRequired: (name: string) => `${name} needs no permission.`,
  consentOthers: 'It also uses these, which need no permission:',
  consentGraph: (name: string) => `What ${name} uses`,
  decline: 'Decline',
  acceptedOn: (date: string, names: string) => `Since ${date} it may use ${names}.`,
  withdraw: 'Withdraw',
  withdrawn: (name: string) => `Withdrawn. ${name} can no longer use other applications for you.`,
  declined: (name: string) => `Declined. ${name} answers, but cannot do anything that needs your permission.`,
  acceptedTitle: 'Application permissions',
  acceptedNone: 'You have not accepted any. An application asks you before it uses other applications in your name.',
  backToChat: 'Back to the chat',
};

export type ConsentStrings = typeof consentEnglish;
