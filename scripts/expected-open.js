// Scenarios of the official suite that wait for a feature which is not there yet. The list only shrinks:
// a scenario that passes and is still named here fails the run.
export const expectedOpen = {
  '2025-03-26': [],
  '2025-06-18': [],
  '2025-11-25': [],
  '2026-07-28': [
    'tasks-lifecycle',
    'tasks-capability-negotiation',
    'tasks-wire-fields',
    'tasks-request-state-removal',
    'tasks-mrtr-input',
    'tasks-request-headers',
    'tasks-dispatch-and-envelope',
    'tasks-required-task-error',
    'tasks-mrtr-composition',
    'tasks-status-notifications' // the suite itself skips it
  ]
}
