import type { ConsentStrings } from '../en/consent.ts';

export const consentSpanish: ConsentStrings = {
  consentTitle: (name) => `¿Puede ${name} actuar en tu nombre?`,
  consentIntro: (name) => `Para responderte, ${name} usa otras aplicaciones en tu nombre. Estas solo puede usarlas si aceptas:`,
  consentItself: (name) => `${name} actúa en tu nombre y antes necesita tu permiso.`,
  consentRevocable: 'Puedes retirar tu permiso en cualquier momento, en «Permisos», dentro del menú.',
  consentGiven: (name) => `Has aceptado. ${name} puede actuar en tu nombre.`,
  consentNotRequired: (name) => `${name} no necesita tu permiso.`,
  consentOthers: 'También usa estas, que no necesitan permiso:',
  consentGraph: (name) => `Lo que usa ${name}`,
  decline: 'Rechazar',
  acceptedOn: (date, names) => `Desde el ${date} puede usar ${names}.`,
  withdraw: 'Retirar',
  withdrawn: (name) => `Permiso retirado. ${name} ya no puede usar otras aplicaciones en tu nombre.`,
  declined: (name) => `Rechazado. ${name} puede seguir respondiendo, pero no hacer nada que necesite tu permiso.`,
  acceptedTitle: 'Permisos de las aplicaciones',
  noPermissions: 'No has dado ningún permiso. Una aplicación te pregunta antes de usar otras en tu nombre.',
  backToChat: 'Volver a la conversación',
};
