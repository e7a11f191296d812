import type { ConsentStrings } from './consent-english.ts';

export const consentSpanish: ConsentStrings = {
  consentTitle: (name) => `¿Puede ${name} actuar en tu nombre?`,
  consentIntro: (name) =>
    `Para responderte, ${name} usa otras aplicaciones en tu nombre. Las siguientes, solo si estás de acuerdo:`,
  consentItself: (name) => `${name} trabaja en tu nombre y antes te pide que estés de acuerdo.`,
  consentRevocable: 'Puedes retirarlo en cualquier momento, en «Consentimiento», dentro del menú.',
  consentStands: (name) => `Lo has aceptado. ${name} puede actuar en tu nombre.`,
  consentNothingRequired: (name) => `${name} no necesita consentimiento.`,
  consentOthers: 'También usa estas, que no necesitan consentimiento:',
  consentGraph: (name) => `Lo que usa ${name}`,
  decline: 'Rechazar',
  acceptedOn: (date, names) => `Desde el ${date} puede usar ${names}.`,
  withdraw: 'Retirar',
  withdrawn: (name) => `Consentimiento retirado. ${name} ya no puede usar otras aplicaciones por ti.`,
  declined: (name) => `Rechazado. ${name} responde, pero sin lo que necesita tu consentimiento.`,
  acceptedTitle: 'Lo que has aceptado',
  acceptedNone: 'De momento, nada. Cuando una aplicación quiera usar otras por ti, se te preguntará antes.',
  backToChat: 'Volver a la conversación',
};
