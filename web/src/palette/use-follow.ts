import { usePage } from '../page/page.tsx';
import { type Place, toHash } from '../page/place.ts';

/** Goes to a place as a link would, so that whoever asks before something unsaved is left is asked. */
export function useFollow(): (place: Place) => void {
  const { go } = usePage();
  return (place) => {
    const link = document.createElement('a');
    link.href = toHash(place);
    if (link.hash === location.hash) return go(place);
    link.hidden = true;
    document.body.append(link);
    link.click();
    link.remove();
  };
}
