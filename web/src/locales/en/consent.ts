export const consentEnglish = {
  consentTitle: (name: string) => `Allow ${name} to act on your behalf?`,
  consentIntro: (name: string) =>
    `To answer you, ${name} uses other applications on your behalf. It can use these only if you agree:`,
  consentItself: (name: string) => `${name} acts on your behalf and needs your permission first.`,
  consentRevocable: 'You can withdraw your permission at any time, under “Permissions” in the menu.',
  consentGiven: (name: string) => `You have agreed. ${name} can act on your behalf.`,
  consentNotRequired: (name: string) => `${name} does not need your permission.`,
  consentOthers: 'It also uses these, which need no permission:',
  consentGraph: (name: string) => `What ${name} uses`,
  decline: 'Decline',
  acceptedOn: (date: string, names: string) => `Since ${date}, it can use ${names}.`,
  withdraw: 'Withdraw',
  withdrawn: (name: string) => `Permission withdrawn. ${name} can no longer use other applications on your behalf.`,
  declined: (name: string) => `Declined. ${name} can still answer, but it cannot take actions that need your permission.`,
  acceptedTitle: 'Application permissions',
  noPermissions: 'You have not given any permissions. An application asks you before it uses other applications on your behalf.',
  backToChat: 'Back to the chat',
};

export type ConsentStrings = typeof consentEnglish;
