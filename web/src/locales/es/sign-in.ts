import type { SignInStrings } from '../en/sign-in.ts';

export const signInSpanish: SignInStrings = {
  signInTitle: 'Te damos la bienvenida',
  sharedWaits: 'Alguien ha compartido una conversación contigo. Inicia sesión para leerla.',
  firstStartTitle: 'Crear el primer administrador',
  firstStartHint:
    'Este servicio aún no tiene administrador. Si lo instalas tú, introduce el token de un solo uso de su registro (firstStartToken).',
  firstStartToken: 'Token de un solo uso',
  firstStartSubmit: 'Crear la clave',
  firstStartWrong: 'El token es incorrecto o ya se usó. El válido está en el registro del servicio. Un reinicio crea uno nuevo.',
  firstStartEnded: 'Ya existe un administrador. Inicia sesión con una clave.',
  firstStartFailed: 'No se pudo comprobar el token. Inténtalo de nuevo.',
  firstStartKey: 'Clave del administrador',
  firstStartCopy: 'Copiar la clave',
  firstStartKeyHint: 'Guarda esta clave ahora. Solo se muestra una vez.',
  firstStartContinue: 'Continuar a la administración',
  signInHint: 'Introduce la clave que recibiste. Todas las pestañas de este navegador la usan hasta que las cierres.',
  keepSignedIn: 'Mantener la sesión iniciada',
  keepSignedInHint: 'Hasta que cierres la sesión, cualquiera que use este navegador puede usar tu acceso.',
  signingIn: 'Iniciando sesión…',
  signInWith: (name) => `Iniciar sesión con ${name}`,
  orWithKey: 'o con una clave',
  signedOutHere: (name) => `Aquí has cerrado la sesión. Puede que la sesión de ${name} siga abierta en este navegador.`,
  signOutThere: (name) => `Cerrar también la sesión de ${name}`,
  signInStale: 'Este inicio de sesión no empezó en esta pestaña o tardó demasiado. Empieza de nuevo.',
  signInForeign: (name) => `La respuesta al inicio de sesión no procede de ${name} y se ha ignorado. Vuelve a iniciar sesión.`,
  signInDeclined: (name) => `El inicio de sesión se canceló o se rechazó en ${name}.`,
  signInRejected: (name, why) => `${name} rechazó el inicio de sesión: ${why}`,
  signInUnavailable: (name) => `No se puede contactar con ${name} en este momento. Inténtalo de nuevo en un instante.`,
  signInUnreachable: (name) =>
    `${name} no responde a esta página. Si sigue así, avisa a tu administrador: ${name} debe aceptar solicitudes desde esta dirección.`,
  signInUnusable: (name) => `La respuesta de ${name} al inicio de sesión no se puede usar. Avisa a tu administrador.`,
  signInNeedsHttps: (name) =>
    `El inicio de sesión con ${name} solo funciona por HTTPS. Abre esta página con una dirección que empiece por https://.`,
  keyLabel: (project) => `${project} (clave)`,
  linkForOtherUser: (here, there) =>
    `Has iniciado sesión como ${here}. Este enlace inicia sesión como ${there}. ¿Quieres cambiar?`,
  linkForUnknownUser: (here) => `Has iniciado sesión como ${here}. Este enlace inicia sesión con otro usuario. ¿Quieres cambiar?`,
  linkRejected: (here) => `La clave de este enlace no funciona. Sigues con la sesión de ${here}.`,
  switchUser: 'Cambiar',
  stay: 'Mantener la sesión',
};
