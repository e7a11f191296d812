import { usePage } from '../shell/page.tsx';
import { formatRoute, type Route } from '../shell/route.ts';

/** Navigates like a link, so that guards for unsaved changes can ask the user. */
export function useNavigate(): (route: Route) => void {
  const { go } = usePage();
  return (route) => {
    const link = document.createElement('a');
    link.href = formatRoute(route);
    if (link.hash === location.hash) return go(route);
    link.hidden = true;
    document.body.append(link);
    link.click();
    link.remove();
  };
}
