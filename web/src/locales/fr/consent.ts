import type { ConsentStrings } from '../en/consent.ts';

export const consentFrench: ConsentStrings = {
  consentTitle: (name) => `Autoriser ${name} à agir en votre nom ?`,
  consentIntro: (name) =>
    `Pour vous répondre, ${name} utilise d’autres applications en votre nom. Celles-ci ne sont utilisées que si vous acceptez :`,
  consentItself: (name) => `${name} agit en votre nom et a d’abord besoin de votre autorisation.`,
  consentRevocable: 'Vous pouvez retirer votre autorisation à tout moment, sous « Autorisations » dans le menu.',
  consentGiven: (name) => `Vous avez accepté. ${name} peut agir en votre nom.`,
  consentNotRequired: (name) => `${name} n’a pas besoin de votre autorisation.`,
  consentOthers: 'Celles-ci sont aussi utilisées, sans autorisation nécessaire :',
  consentGraph: (name) => `Ce que ${name} utilise`,
  decline: 'Refuser',
  acceptedOn: (date, names) => `Depuis le ${date}, elle peut utiliser ${names}.`,
  withdraw: 'Retirer',
  withdrawn: (name) => `Autorisation retirée. ${name} ne peut plus utiliser d’autres applications en votre nom.`,
  declined: (name) => `Refusé. ${name} peut encore répondre, mais ne peut rien faire qui nécessite votre autorisation.`,
  acceptedTitle: 'Autorisations des applications',
  noPermissions: 'Vous n’avez donné aucune autorisation. Une application vous demande avant d’en utiliser d’autres en votre nom.',
  backToChat: 'Retour à la conversation',
};
