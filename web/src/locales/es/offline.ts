import type { OfflineStrings } from '../en/offline.ts';

export const offlineSpanish: OfflineStrings = {
  away: (isOffline) =>
    `${isOffline ? 'Estás sin conexión.' : 'No se puede contactar con el servicio.'} Puedes leer las conversaciones guardadas en este navegador.`,
  back: 'El servicio vuelve a estar disponible. Inicia sesión para seguir escribiendo.',
  choose: 'Elige una conversación para leerla.',
  noConversations: 'No hay conversaciones guardadas en este navegador.',
};
