// How results of the search are ordered: Sphinx's own weights, but a page whose title has the whole question comes first.
const TITLE_HAS_QUESTION = 100;

var Scorer = {
  score: ([, title, , , score]) => {
    const question = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();
    return question && title.toLowerCase().includes(question) ? score + TITLE_HAS_QUESTION : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
