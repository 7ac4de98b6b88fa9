import Glibc

/// Threads for what may block. Jobs wait in a bounded queue; their results go wherever the job
/// posts them.
///
/// Two jobs run at a time. A job that has waited for `patience` because others hang gets a thread
/// of its own, so that what is slow delays nobody; threads beyond three end when there is nothing
/// to do.
public final class WorkerPool: @unchecked Sendable {
    private struct Job {
        let body: @Sendable () -> Void
        let since: Int64
    }

    // Guarded by `mutex`; the pointers never change.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [Job] = []
    private var threadCount = 0
    private var idleCount = 0
    private let threadsUsual: Int
    private let threadsMax: Int
    private let patience: Int64

    public static let jobsMax = 128

    /// - Parameter patience: milliseconds.
    public init(threads: Int = 2, most: Int = 64, patience: Int = 100) {
        threadsUsual = threads
        threadsMax = max(threads, most)
        self.patience = Int64(patience) * 1_000_000
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    /// Runs the job on a worker; false if too many wait already.
    public func run(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard enqueue(job) else { return false }
        // Not under the lock: who is woken would wait for it, and be woken again.
        pthread_cond_signal(condition)
        return true
    }

    /// Whether a job waits for its turn.
    public var hasWaiting: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return !jobs.isEmpty
    }

    private func enqueue(_ job: @escaping @Sendable () -> Void) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard jobs.count < Self.jobsMax else { return false }
        jobs.append(Job(body: job, since: Self.now()))
        startThreadIfNeeded()
        return true
    }

    /// One thread that is idle watches over the jobs that wait.
    private func startThreadIfNeeded() {
        let needed = threadCount < threadsUsual ? jobs.count : min(jobs.count, 1)
        if idleCount < needed, threadCount < threadsMax { startThread() }
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
                Unmanaged<WorkerPool>.fromOpaque(raw).takeRetainedValue().work()
                return nil
            }, pool.toOpaque())
        if code == 0 {
            threadCount += 1
            idleCount += 1
        } else {
            pool.release()
        }
    }

    private func work() {
        pthread_mutex_lock(mutex)
        while let job = next() {
            idleCount -= 1
            // Whoever waits behind it must not wait for it.
            startThreadIfNeeded()
            pthread_mutex_unlock(mutex)
            job()
            pthread_mutex_lock(mutex)
            idleCount += 1
        }
        idleCount -= 1
        threadCount -= 1
        pthread_mutex_unlock(mutex)
    }

    /// The next job, when it may run; nil: this thread is one too many.
    private func next() -> (@Sendable () -> Void)? {
        while true {
            guard let job = jobs.first else {
                if threadCount > threadsUsual + 1, idleCount > 1 { return nil }
                pthread_cond_wait(condition, mutex)
                continue
            }
            let due = job.since + patience
            if threadCount - idleCount < threadsUsual || Self.now() >= due {
                return jobs.removeFirst().body
            }
            var time = timespec(tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
            pthread_cond_timedwait(condition, mutex, &time)
        }
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
