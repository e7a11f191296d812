import type { SignInStrings } from '../en/sign-in.ts';

export const signInFrench: SignInStrings = {
  signInTitle: 'Bienvenue',
  sharedWaits: 'Quelqu’un a partagé une conversation avec vous. Connectez-vous pour la lire.',
  firstStartTitle: 'Créer le premier administrateur',
  firstStartHint:
    'Ce service n’a pas encore d’administrateur. Si vous l’installez, saisissez le jeton à usage unique de son journal (firstStartToken).',
  firstStartToken: 'Jeton à usage unique',
  firstStartSubmit: 'Créer la clé',
  firstStartWrong:
    'Le jeton est incorrect ou a déjà été utilisé. Le jeton valide figure dans le journal du service. Un redémarrage en crée un nouveau.',
  firstStartEnded: 'Un administrateur existe désormais. Connectez-vous avec une clé.',
  firstStartFailed: 'Le jeton n’a pas pu être vérifié. Réessayez.',
  firstStartKey: 'Clé de l’administrateur',
  firstStartCopy: 'Copier la clé',
  firstStartKeyHint: 'Enregistrez cette clé maintenant. Elle n’est affichée qu’une seule fois.',
  firstStartContinue: 'Continuer vers l’administration',
  signInHint: 'Saisissez la clé que vous avez reçue. Tous les onglets de ce navigateur l’utilisent jusqu’à leur fermeture.',
  keepSignedIn: 'Rester connecté',
  keepSignedInHint: 'Jusqu’à votre déconnexion, toute personne utilisant ce navigateur peut utiliser votre accès.',
  signingIn: 'Connexion…',
  signInWith: (name) => `Se connecter avec ${name}`,
  orWithKey: 'ou avec une clé',
  signedOutHere: (name) => `Vous êtes déconnecté ici. Vous êtes peut-être encore connecté à ${name} dans ce navigateur.`,
  signOutThere: (name) => `Se déconnecter aussi de ${name}`,
  signInStale: 'Cette connexion n’a pas été commencée dans cet onglet, ou elle a pris trop de temps. Recommencez.',
  signInForeign: (name) => `La réponse à la connexion ne vient pas de ${name} et a été ignorée. Reconnectez-vous.`,
  signInDeclined: (name) => `La connexion a été annulée ou refusée chez ${name}.`,
  signInRejected: (name, why) => `${name} a refusé la connexion : ${why}`,
  signInUnavailable: (name) => `${name} est injoignable pour le moment. Réessayez dans un instant.`,
  signInUnreachable: (name) =>
    `${name} ne répond pas à cette page. Si cela persiste, prévenez votre administrateur : ${name} doit accepter les requêtes venant de cette adresse.`,
  signInUnusable: (name) => `La réponse de ${name} à la connexion est inutilisable. Prévenez votre administrateur.`,
  signInNeedsHttps: (name) =>
    `La connexion avec ${name} ne fonctionne qu’en HTTPS. Ouvrez cette page avec une adresse qui commence par https://.`,
  keyLabel: (project) => `${project} (clé)`,
  linkForOtherUser: (here, there) =>
    `Vous êtes connecté en tant que ${here}. Ce lien vous connecte en tant que ${there}. Voulez-vous changer ?`,
  linkForUnknownUser: (here) =>
    `Vous êtes connecté en tant que ${here}. Ce lien vous connecte en tant qu’un autre utilisateur. Voulez-vous changer ?`,
  linkRejected: (here) => `La clé de ce lien ne fonctionne pas. Vous restez connecté en tant que ${here}.`,
  switchUser: 'Changer',
  stay: 'Rester connecté',
};
