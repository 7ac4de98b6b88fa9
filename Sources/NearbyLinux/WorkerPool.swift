import Glibc

/// At most two threads for what may block. Jobs wait in a bounded queue; their results go wherever
/// the job posts them.
public final class WorkerPool: @unchecked Sendable {
    // Guarded by `mutex`; the pointers never change.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [@Sendable () -> Void] = []
    private var threadCount = 0
    private var idleCount = 0
    private let threadsMax: Int

    public static let jobsMax = 128

    public init(threads: Int = 2) {
        threadsMax = threads
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    /// Runs the job on a worker; false if too many wait already.
    public func run(_ job: @escaping @Sendable () -> Void) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard jobs.count < Self.jobsMax else { return false }
        jobs.append(job)
        if idleCount < jobs.count, threadCount < threadsMax { startThread() }
        pthread_cond_signal(condition)
        return true
    }

    private func startThread() {
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 256 * 1_024)
        defer { pthread_attr_destroy(&attributes) }
        // The pool lives as long as its threads, which is as long as the process.
        let pool = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, &attributes,
            { raw in
                guard let raw else { return nil }
                Unmanaged<WorkerPool>.fromOpaque(raw).takeUnretainedValue().work()
                return nil
            }, pool.toOpaque())
        if code == 0 { threadCount += 1 } else { pool.release() }
    }

    private func work() {
        while true {
            pthread_mutex_lock(mutex)
            idleCount += 1
            while jobs.isEmpty { pthread_cond_wait(condition, mutex) }
            idleCount -= 1
            let job = jobs.removeFirst()
            pthread_mutex_unlock(mutex)
            job()
        }
    }
}
