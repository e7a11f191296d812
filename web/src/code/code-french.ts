import type { CodeStrings } from './code-english.ts';

export const codeFrench: CodeStrings = {
  title: (name) => `Utiliser ${name} dans du code`,
  intro: 'Les programmes et agents de code où l’on peut régler une adresse, une clé et un modèle peuvent aussi l’interroger.',
  address: 'Adresse',
  model: 'Modèle',
  key: 'Clé',
  keyHint:
    'Les clés sont remises par les responsables de ce service. Ce qu’un programme demande avec une clé compte pour son projet.',
  ownKey: 'La clé avec laquelle vous êtes connecté fonctionne aussi.',
  copyOwnKey: 'Copier ma clé',
  copyAddress: 'Copier l’adresse',
  copyModel: 'Copier le modèle',
  client: 'Interroger avec',
  setKey: 'La clé est lue dans l’environnement :',
  inFile: (file) => `Dans ${file}.`,
  keyBelow:
    'Créez la vôtre ci-dessous. Elle vous représente : ce qu’un programme demande avec elle compte pour vous, et elle n’ouvre rien de plus que ce à quoi vous avez droit.',
  yourKey: 'Votre propre clé',
  keyName: 'Nom, si vous voulez',
  worksFor: 'Elle est valable',
  days: (count) => (count === 1 ? 'un jour' : count === 365 ? 'un an' : `${count} jours`),
  makeKey: 'Créer une clé',
  newKey: 'Votre nouvelle clé',
  once: 'Copiez-la maintenant : elle n’est affichée qu’ici. Les lignes ci-dessous la contiennent déjà.',
  full: (count) =>
    count === 1
      ? 'Vous avez droit à une clé, et vous l’avez. Supprimez-la pour en créer une autre.'
      : `Vous avez ${count} clés, autant que permis. Supprimez-en une pour en créer une autre.`,
  lastUsed: (when) => `dernière utilisation : ${when}`,
  neverUsed: 'pas encore utilisée',
  until: (date) => `jusqu’au ${date}`,
  expired: (date) => `expirée le ${date}`,
  deleteKey: 'Supprimer',
  deleteKeyNamed: (name) => `Supprimer la clé ${name}`,
  keyDeleted: 'La clé est supprimée. Les programmes qui l’envoient sont désormais refusés.',
  copyExport: 'Copier la ligne avec la clé',
};
