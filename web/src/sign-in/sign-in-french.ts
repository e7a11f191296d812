import type { SignInStrings } from './sign-in-english.ts';

export const signInFrench: SignInStrings = {
  signInTitle: 'Bienvenue',
  sharedWaits: 'Quelqu’un a partagé une conversation avec vous. Connectez-vous pour la lire.',
  signInHint: 'Saisissez la clé que vous avez reçue. Elle reste dans cet onglet et est oubliée quand vous le fermez.',
  signingIn: 'Connexion…',
  signInWith: (name) => `Se connecter avec ${name}`,
  orWithKey: 'ou avec une clé',
  signedOutHere: (name) => `Vous êtes déconnecté ici. ${name} vous connaît peut-être encore dans ce navigateur.`,
  signOutThere: (name) => `Se déconnecter aussi de ${name}`,
  signInStale: 'Cette connexion n’a pas été commencée dans cet onglet, ou elle a pris trop de temps. Recommencez.',
  signInForeign: (name) => `La réponse reçue ne vient pas de ${name}. Elle n’a pas été utilisée.`,
  signInDeclined: (name) => `La connexion a été annulée ou refusée chez ${name}.`,
  signInRefused: (name, why) => `${name} a refusé la connexion : ${why}`,
  signInUnavailable: (name) => `${name} est injoignable pour le moment. Réessayez dans un instant.`,
  signInUnreachable: (name) =>
    `${name} ne répond pas à cette page. Si cela persiste, prévenez les responsables de ce service : ${name} doit accepter les requêtes venant de cette adresse.`,
  signInUnusable: (name) => `${name} n’a rien renvoyé d’utilisable. Prévenez les responsables de ce service.`,
  signInNeedsHttps: (name) => `La connexion avec ${name} ne fonctionne qu’en https. Ouvrez cette page à son adresse https.`,
  keyLabel: (project) => `${project} (clé)`,
  linkOfAnother: (here, there) =>
    `Vous êtes connecté en tant que ${here}. Ce lien vous connecte en tant que ${there}. Voulez-vous changer ?`,
  linkOfUnknown: (here) =>
    `Vous êtes connecté en tant que ${here}. Ce lien vous connecte sous un autre nom. Voulez-vous changer ?`,
  linkRefused: (here) => `Ce lien contient une clé que ce service n’accepte pas. Vous restez connecté en tant que ${here}.`,
  switchUser: 'Changer',
  stay: 'Rester connecté',
};
