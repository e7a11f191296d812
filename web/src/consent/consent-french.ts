import type { ConsentStrings } from './consent-english.ts';

export const consentFrench: ConsentStrings = {
  consentTitle: (name) => `${name} peut-il agir en votre nom ?`,
  consentIntro: (name) =>
    `Pour vous répondre, ${name} utilise d’autres applications à votre place. Celles-ci ne le seront qu’avec votre accord :`,
  consentItself: (name) => `${name} agit en votre nom et vous demande d’abord votre accord.`,
  consentRevocable: 'Vous pouvez le retirer à tout moment, sous « Consentement » dans le menu.',
  consentStands: (name) => `Vous avez accepté. ${name} peut agir en votre nom.`,
  consentNothingRequired: (name) => `${name} ne demande aucun consentement.`,
  consentOthers: 'Celles-ci sont également utilisées, sans demander de consentement :',
  consentGraph: (name) => `Ce que ${name} utilise`,
  decline: 'Refuser',
  acceptedOn: (date, names) => `Peut utiliser ${names} depuis le ${date}.`,
  withdraw: 'Retirer',
  withdrawn: (name) => `Consentement retiré. ${name} ne peut plus utiliser d’autres applications pour vous.`,
  declined: (name) => `Refusé. ${name} répond, mais sans ce qui nécessite votre consentement.`,
  acceptedTitle: 'Ce que vous avez accepté',
  acceptedNone:
    'Rien pour le moment. Quand une application voudra en utiliser d’autres pour vous, votre accord sera d’abord demandé.',
  backToChat: 'Retour à la conversation',
};
