import { createPlural } from '../../strings/create-plural.ts';
import type { ShareStrings } from '../en/share.ts';

const plural = createPlural('fr');

export const shareFrench: ShareStrings = {
  title: 'Partager par un lien',
  intro: (message) =>
    `Toute personne qui a le lien et peut se connecter ici peut lire cette conversation ${message === '' ? 'jusqu’à maintenant' : `jusqu’à votre message « ${message} » et sa réponse`}. Elle ne voit pas les messages suivants. Pour les partager aussi, créez un autre lien.`,
  linkTitle: (title) => `Le titre du lien est « ${title} ».`,
  linkContent: (name) =>
    `Le lien montre les questions, les réponses, leurs fichiers et votre nom, « ${name} ». Il ne montre ni les étapes, ni les réflexions, ni les réglages.`,
  files: (count) => `${count} ${plural(count, 'fichier partagé', 'fichiers partagés')}`,
  attachedByYou: 'Joint par vous',
  fromAnswer: 'D’une réponse',
  worksFor: 'Validité du lien',
  days: (count) => (count === 365 ? 'un an' : `${count} ${plural(count, 'jour', 'jours')}`),
  createLink: 'Créer un lien',
  chatChanged:
    'La conversation a changé depuis l’ouverture de cette fenêtre. Vérifiez le contenu du lien, puis créez-le à nouveau.',
  link: 'Lien',
  copyLink: 'Copier le lien',
  copyNow: 'Copiez-le maintenant. Il ne sera plus affiché.',
  yourLinks: 'Tous vos liens',
  noLinks: 'Vous ne partagez aucune conversation.',
  linkState: (created, until) => `Montre la conversation telle qu’elle était le ${created}. Valable jusqu’au ${until}.`,
  revoke: 'Supprimer',
  revokeNamed: (title) => `Supprimer le lien vers ${title}`,
  revokeQuestion: (title) => `Supprimer le lien vers « ${title} » ? Il ne fonctionnera alors plus pour personne.`,
  revoked: (title) => `Le lien vers « ${title} » est supprimé et ne fonctionne plus.`,
  shared: 'Conversation partagée',
  sharedBy: (name, date) => `Partagée par ${name} le ${date}`,
  snapshotNote: (date) => `Voici la conversation telle qu’elle était alors. Le lien est valable jusqu’au ${date}.`,
  continueInCopy: 'Continuer dans une copie',
  copyIsPrivate: (name) => `La copie est privée. ${name} n’y voit pas vos messages.`,
  copyContinuesWith: (name, next) => `Vous ne pouvez pas utiliser ${name}. La copie continue avec ${next}.`,
  copying: 'Copie en cours…',
  filesUnavailable: 'Certains fichiers ne sont plus disponibles. La copie n’en contient que les noms.',
  notFound: 'Ce lien ne fonctionne plus',
  notFoundReason:
    'Il a été supprimé, a expiré, ou la conversation a été supprimée. Demandez-en un nouveau à la personne qui vous l’a envoyé.',
  newConversation: 'Commencer une nouvelle conversation',
};
