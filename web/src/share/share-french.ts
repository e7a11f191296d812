import { createPlural } from '../strings/create-plural.ts';
import type { ShareStrings } from './share-english.ts';

const plural = createPlural('fr');

export const shareFrench: ShareStrings = {
  title: 'Partager par un lien',
  intro:
    'Toute personne qui a le lien et peut se connecter ici lit cette conversation telle qu’elle est maintenant. Ce que vous écrirez ensuite n’est pas partagé.',
  what: (name) =>
    `Sont visibles les questions, les réponses et leurs fichiers, ainsi que le nom ${name}. Pas les étapes, les réflexions ni les réglages.`,
  files: (count) => `${count} ${plural(count, 'fichier partagé', 'fichiers partagés')}`,
  noFiles: 'Aucun fichier n’est partagé.',
  attachedByYou: 'Joint par vous',
  fromAnswer: 'D’une réponse',
  worksFor: 'Validité du lien',
  days: (count) => (count === 365 ? 'un an' : `${count} ${plural(count, 'jour', 'jours')}`),
  make: 'Créer un lien',
  link: 'Lien',
  copyLink: 'Copier le lien',
  once: 'Copiez-le maintenant : il n’est affiché qu’ici.',
  yours: 'Vos liens',
  noLinks: 'Vous ne partagez rien pour le moment.',
  until: (date) => `jusqu’au ${date}`,
  revoke: 'Révoquer',
  revokeNamed: (title) => `Révoquer le lien vers ${title}`,
  revoked: 'Le lien est révoqué. Il ne mène plus nulle part.',
  shared: 'Conversation partagée',
  sharedBy: (name, date) => `Partagée par ${name} le ${date}`,
  asThen: (date) => `Vous la lisez telle qu’elle était alors. Le lien est valable jusqu’au ${date}.`,
  goOn: 'Continuer dans une copie',
  goOnWhat: (name) => `La copie n’est qu’à vous : ${name} ne voit pas ce que vous y écrivez.`,
  copying: 'Copie en cours…',
  filesUnavailable: 'Certains fichiers n’étaient plus lisibles. La copie n’en garde que les noms.',
  notFound: 'Ce lien ne mène plus nulle part',
  notFoundReason:
    'Il a été révoqué, a expiré, ou la conversation a été supprimée. Demandez-en un nouveau à la personne qui vous l’a envoyé.',
  newConversation: 'Commencer une nouvelle conversation',
};
