import { availableLanguages, chooseLanguage, messages, useLanguage } from "../languages";

/** The languages of the rater's pages; not shown where there is only one. */
export function LanguageSelect() {
  const code = useLanguage();
  const available = Object.entries(availableLanguages());
  if (available.length < 2) return null;
  return (
    <select className="language" aria-label={messages.common.language} value={code} onChange={(event) => chooseLanguage(event.target.value)}>
      {available.map(([value, name]) => <option key={value} value={value} lang={value}>{name}</option>)}
    </select>
  );
}
