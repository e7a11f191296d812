import { useLocalizedStrings } from '../strings/strings.tsx';
import { type ProjectsStrings, projectsEnglish } from './projects-english.ts';
import { projectsFrench } from './projects-french.ts';
import { projectsGerman } from './projects-german.ts';
import { projectsSpanish } from './projects-spanish.ts';

/** Texts of the project dialogs, in a separate chunk. */
export function useProjectsStrings(): ProjectsStrings {
  return useLocalizedStrings({ en: projectsEnglish, de: projectsGerman, fr: projectsFrench, es: projectsSpanish });
}
