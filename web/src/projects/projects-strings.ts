import { projectsGerman } from '../locales/de/projects.ts';
import { type ProjectsStrings, projectsEnglish } from '../locales/en/projects.ts';
import { projectsSpanish } from '../locales/es/projects.ts';
import { projectsFrench } from '../locales/fr/projects.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the project dialogs, in a separate chunk. */
export function useProjectsStrings(): ProjectsStrings {
  return useLocalizedStrings({ en: projectsEnglish, de: projectsGerman, fr: projectsFrench, es: projectsSpanish });
}
