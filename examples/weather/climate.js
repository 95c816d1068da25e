import { cities } from './cities.js'

/** `são paulo`, `Sao Paulo` and `SAO-PAULO` are one city. */
const plain = (name) => name.normalize('NFD').toLowerCase().replace(/[^a-z]/g, '')

const byName = new Map(cities.map((city) => [plain(city.name), city]))

export const findCity = (name) => byName.get(plain(name))

/** The names spelt most like this one: those that share the most pairs of letters with it. */
export function closeMatches (name, most = 3) {
  const wanted = pairs(plain(name))
  return cities
    .map((city) => ({ name: city.name, likeness: likeness(wanted, pairs(plain(city.name))) }))
    .filter((match) => match.likeness > 0.3)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, most)
    .map((match) => match.name)
}

const pairs = (word) => new Set(Array.from(word.slice(1), (letter, i) => word[i] + letter))

const likeness = (some, others) => 2 * [...some].filter((pair) => others.has(pair)).length / (some.size + others.size)
