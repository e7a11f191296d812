import type { CodeWords } from './code-english.ts';

export const codeFrench: CodeWords = {
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
  way: 'Interroger avec',
  setKey: 'La clé est lue dans l’environnement :',
  inFile: (file) => `Dans ${file}.`,
};
