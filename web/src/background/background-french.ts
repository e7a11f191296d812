import type { BackgroundStrings } from './background-english.ts';

export const backgroundFrench: BackgroundStrings = {
  title: 'Réponses en arrière-plan',
  intro:
    'Ce que des programmes ont fait répondre en votre nom sans que personne n’attende. Une réponse se poursuit même si son programme s’arrête, et reste ici.',
  noAnswers: 'Il n’y en a pas encore. Un programme en demande une avec « background: true » sur l’API Responses.',
  noStore: 'Ce service ne conserve pas les réponses.',
  all: 'Toutes les réponses en arrière-plan',
  showMore: 'Afficher plus',
  noQuestionText: 'Aucune question en mots',
  states: {
    queued: 'En attente',
    in_progress: 'En cours',
    completed: 'Terminée',
    incomplete: 'Tronquée',
    failed: 'En échec',
    cancelled: 'Arrêtée',
  },
  stop: 'Arrêter',
  remove: 'Supprimer',
  removeQuestion: 'Supprimer définitivement cette réponse ? Un programme qui la suit encore apprendra qu’elle n’existe plus.',
  goOn: 'Continuer dans une conversation',
  removed: 'La réponse a été supprimée.',
  stopped: 'La réponse a été arrêtée.',
  ended: 'La réponse est prête.',
  again: 'La connexion a été perdue ; reprise du suivi…',
  notFound: 'Cette réponse n’existe pas : elle a été supprimée, a expiré ou appartient à quelqu’un d’autre.',
  instructions: 'Instructions reçues',
};
