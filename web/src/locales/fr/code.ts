import type { CodeStrings } from '../en/code.ts';

export const codeFrench: CodeStrings = {
  title: (name) => `Utiliser ${name} dans du code`,
  intro:
    'Les programmes et agents de code peuvent aussi l’utiliser, s’ils permettent de régler une adresse, une clé et un modèle.',
  address: 'Adresse',
  model: 'Modèle',
  key: 'Clé',
  keyHint:
    'Demandez une clé à votre administrateur. Les requêtes faites avec la clé comptent dans l’utilisation et les limites de son équipe.',
  ownKey: 'La clé avec laquelle vous êtes connecté fonctionne aussi.',
  copyOwnKey: 'Copier ma clé',
  copyAddress: 'Copier l’adresse',
  copyModel: 'Copier le modèle',
  client: 'Utiliser avec',
  setKey: 'Définissez la clé comme variable d’environnement :',
  inFile: (file) => `Enregistrez les lignes ci-dessous dans ${file}.`,
  createKeyHint:
    'Créez votre propre clé ci-dessous. Un programme qui l’utilise agit à votre place : ses requêtes comptent dans vos limites, et il n’a pas plus d’accès que vous.',
  yourKey: 'Votre propre clé',
  keyName: 'Nom (facultatif)',
  worksFor: 'Elle est valable',
  days: (count) => (count === 1 ? 'un jour' : count === 365 ? 'un an' : `${count} jours`),
  createKey: 'Créer une clé',
  newKey: 'Votre nouvelle clé',
  copyNow: 'Copiez-la maintenant. Elle ne sera plus affichée. Les lignes ci-dessous la contiennent déjà.',
  keyLimit: (count) =>
    count === 1
      ? 'Vous pouvez avoir une clé, et vous en avez déjà une. Supprimez-la pour en créer une autre.'
      : `Vous avez ${count} clés, le maximum. Supprimez-en une pour en créer une autre.`,
  lastUsed: (when) => `dernière utilisation : ${when}`,
  neverUsed: 'pas encore utilisée',
  validUntil: (date) => `jusqu’au ${date}`,
  expired: (date) => `expirée le ${date}`,
  deleteKey: 'Supprimer',
  deleteKeyNamed: (name) => `Supprimer la clé ${name}`,
  keyDeleted: 'La clé est supprimée. Les programmes qui l’utilisent n’ont plus accès.',
  copyExport: 'Copier la ligne avec la clé',
};
