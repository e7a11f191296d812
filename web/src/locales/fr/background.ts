import type { BackgroundStrings } from '../en/background.ts';

export const backgroundFrench: BackgroundStrings = {
  title: 'Réponses en arrière-plan',
  intro:
    'Les réponses que des programmes ont demandées en votre nom en arrière-plan. Une réponse continue si son programme se déconnecte, et elle est enregistrée ici.',
  noAnswers:
    'Aucune réponse en arrière-plan pour le moment. Les programmes peuvent en demander. Pour les développeurs : « background: true » dans l’API Responses.',
  noStore: 'Ce service n’enregistre pas les réponses. Votre administrateur peut configurer un stockage.',
  all: 'Toutes les réponses en arrière-plan',
  showMore: 'Afficher plus',
  noQuestionText: 'Question sans texte',
  states: {
    queued: 'En attente',
    in_progress: 'En cours',
    completed: 'Terminée',
    incomplete: 'Incomplète',
    failed: 'En échec',
    cancelled: 'Arrêtée',
  },
  stop: 'Arrêter',
  remove: 'Supprimer',
  removeQuestion: 'Supprimer définitivement cette réponse ? Un programme qui l’attend encore est informé de la suppression.',
  continueInChat: 'Continuer dans une conversation',
  removed: 'La réponse a été supprimée.',
  stopped: 'La réponse a été arrêtée.',
  ready: 'La réponse est prête.',
  reconnecting: 'La connexion a été perdue. Reconnexion…',
  notFound: 'Cette réponse est introuvable. Elle a été supprimée, a expiré ou appartient à un autre utilisateur.',
  instructions: 'Instructions',
};
