// A test earns coverage only for the file of lib/ that it mirrors; tests of behaviour earn none.
const behaviour = /^test\/(spec|cases|clients|fixture|types|issues|support|asking)\/|^test\/(arrows|docs)\.test/
export default test => behaviour.test(test) ? null : test.replace(/^test\//, 'lib/').replace(/\.test\.ts$/, '.ts')
