import type { KeptWords } from './kept-english.ts';

export const keptSpanish: KeptWords = {
  away: (isOffline) =>
    `${isOffline ? 'Estás sin conexión.' : 'No se puede acceder al servicio.'} Estas son las conversaciones que guarda este navegador, solo para leer.`,
  back: 'El servicio vuelve a estar disponible. Inicia sesión para seguir escribiendo.',
  choose: 'Elige una conversación para leerla.',
  none: 'Este navegador no guarda ninguna conversación tuya.',
};
