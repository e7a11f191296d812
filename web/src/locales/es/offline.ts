import type { OfflineStrings } from '../en/offline.ts';

export const offlineSpanish: OfflineStrings = {
  unreachable: (isOffline) =>
    `${isOffline ? 'Estás sin conexión.' : 'No se puede contactar con el servicio.'} Puedes leer las conversaciones guardadas en este navegador.`,
  reachable: 'El servicio vuelve a estar disponible. Inicia sesión para seguir escribiendo.',
  choose: 'Elige una conversación para leerla.',
  noConversations: 'No hay conversaciones guardadas en este navegador.',
};
