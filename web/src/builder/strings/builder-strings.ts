import { useLocalizedStrings } from '../../strings/strings.tsx';
import { type BuilderWords, builderEnglish } from './builder-english.ts';
import { builderFrench } from './builder-french.ts';
import { builderGerman } from './builder-german.ts';
import { builderSpanish } from './builder-spanish.ts';

/** What the builder says; apart from the other words, so that only who builds loads it. */
export function useBuilderStrings(): BuilderWords {
  return useLocalizedStrings({ en: builderEnglish, de: builderGerman, fr: builderFrench, es: builderSpanish });
}
