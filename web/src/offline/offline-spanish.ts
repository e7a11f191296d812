import type { OfflineStrings } from './offline-english.ts';

export const offlineSpanish: OfflineStrings = {
  away: (isOffline) =>
    `${isOffline ? 'Estás sin conexión.' : 'No se puede acceder al servicio.'} Estas son las conversaciones que guarda este navegador, solo para leer.`,
  back: 'El servicio vuelve a estar disponible. Inicia sesión para seguir escribiendo.',
  choose: 'Elige una conversación para leerla.',
  noConversations: 'Este navegador no guarda ninguna conversación tuya.',
};
