# The driver of Ruby: runs the code that comes over descriptor 3, one piece after the other, at the top level of one
# interpreter. `run ID SIZE FLAGS` comes, a line of 64 bytes, and the code behind it. `ready 0 SIZE` and `done ID SIZE`
# go over descriptor 4, each with JSON behind it, and `exit ID STATUS` where a run has no more to say. Descriptors 1
# and 2 are the user's alone.
#
# Methods that user code defines at the top level are Object's, and would be found before those of Kernel: so nothing
# here calls one of Kernel's without its receiver. Nor does anything depend on `$,`, `$/` or `$;`.
module IglooSession
  HEAD = 64 # bytes of an order's line
  MAX_VALUE = 10_000 # characters of a value
  OWN = "#{__FILE__}:".freeze # begins this file's lines in a backtrace
  # Values of these are not shown: whoever assigns or defines something does not ask for it.
  QUIET = /ASGN|\A(?:DEFN|DEFS|CLASS|MODULE|SCLASS|CDECL|OP_CDECL|ALIAS|VALIAS|UNDEF)\z/.freeze

  # A fork of the user's code must not hold the channel, nor answer in the parent's place.
  module Leaving
    def _fork
      child = super
      IglooSession.leave if child.zero?
      child
    end
  end

  class << self
    # SIGINT raises only where user code runs. Whatever else is raised in this thread from outside waits, too.
    def serve
      open_channel
      prepare
      Thread.handle_interrupt(Object => :never) do
        say('ready', 0, "{\"pid\": #{@owner}}")
        obey(*read_order) while true
      end
    end

    def leave
      @orders.close
      @words.close
    end

    private

    def open_channel
      @owner, @come = Process.pid, String.new
      @orders, @words = IO.for_fd(3, 'rb'), IO.for_fd(4, 'wb')
      [@orders, @words].each { |each| each.close_on_exec = true }
      @words.sync = true
    end

    def prepare
      STDOUT.sync = true # what a run printed is there even when it has to be killed
      @stop = proc { Thread.main.raise(Interrupt, '') if @running }
      Signal.trap('INT', @stop)
      Process.singleton_class.prepend(Leaving)
      begin # what is used for the first time takes longer
        TOPLEVEL_BINDING.eval("raise 'warm'", '<warm>')
      rescue RuntimeError => error
        text_of(error)
        quiet?('x = 1')
      end
    end

    def read_order
      read while @come.bytesize < HEAD
      word, number, size, flags = @come.byteslice(0, HEAD).split(' ')
      Process.exit!(1) if word != 'run' || !flags
      read while @come.bytesize < HEAD + size.to_i
      code = @come.byteslice(HEAD, size.to_i).force_encoding(Encoding::UTF_8)
      @come = @come.byteslice(HEAD + size.to_i, @come.bytesize)
      [number, code, flags.include?('echo')]
    end

    def read
      @come << @orders.readpartial(1 << 16)
    rescue EOFError
      Process.exit!(0) # the host has gone
    rescue IOError, Errno::EBADF
      Process.exit!(1) # user code closed it
    rescue Exception => error # of a trap of the user's: nothing was read yet
      Kernel.raise if leaves?(error)
      report(error)
    end

    def say(kind, number, payload)
      @words.write("#{kind} #{number} #{payload.bytesize}\n#{payload}")
    end

    def obey(number, code, echo)
      status, more = execute("<run #{number}>", code, echo)
      flush
      Process.exit(status) if Process.pid != @owner
      answer(number, status, more)
    end

    def answer(number, status, more)
      if more.empty?
        @words.write("exit #{number} #{status}\n")
      else
        say('done', number, "{\"status\": #{status}#{more}}")
      end
    rescue IOError, Errno::EBADF
      Process.exit!(status) # user code closed it
    end

    # The status, and what else there is to say, as members of JSON.
    def execute(place, code, echo)
      $0 = place # so the code is the program for whoever asks
      arm
      value = Thread.handle_interrupt(Object => :immediate) { evaluate(place, code, echo) }
      settle
      [0, value ? ", \"value\": #{json(value)}" : '']
    rescue Exception => error
      settle
      Kernel.raise if leaves?(error)
      failure(error)
    end

    def evaluate(place, code, echo)
      value = returned { TOPLEVEL_BINDING.eval(code, place, 1) }
      shorten(shown(value)) if echo && !nil.equal?(value) && !quiet?(code)
    end

    def shown(value)
      "#{value.inspect}"
    rescue NoMethodError
      Kernel.raise if Object === value
      '#<BasicObject>' # which has no methods at all
    end

    # `return` ends a program at its top level.
    def returned
      yield
    rescue LocalJumpError => error
      Kernel.raise unless error.reason == :return && own?(error.backtrace[1].to_s)
    end

    # What the user's code made of SIGINT stays; the way back to the usual leads here.
    def arm
      before = Signal.trap('INT', @stop)
      Signal.trap('INT', before) unless [@stop, 'DEFAULT', nil].include?(before)
      @running = true
    end

    # An interrupt that came too late must not stop the next run.
    def settle
      @running = false
      Thread.handle_interrupt(Interrupt => :immediate) { Thread.pass } if Thread.pending_interrupt?
    rescue Interrupt
      nil
    end

    def failure(error)
      report(error)
      return [130, ', "error": "interrupted", "interrupted": true'] if error.instance_of?(Interrupt)

      [1, ", \"error\": #{json(describe(error))}"]
    end

    def leaves?(error)
      SystemExit === error || (SignalException === error && !(Interrupt === error))
    end

    # Definitions and assignments.
    def quiet?(code)
      verbose, $VERBOSE = $VERBOSE, nil # warnings were told already
      node = RubyVM::AbstractSyntaxTree.parse(code).children.last
      node = node.children.last while node && node.type == :BLOCK
      !node || QUIET.match?(node.type)
    rescue NameError, NotImplementedError, SyntaxError # another kind of Ruby
      false
    ensure
      $VERBOSE = verbose
    end

    def report(error)
      STDERR.write(text_of(error))
    rescue IOError, SystemCallError
      nil # nobody hears it
    end

    # As Ruby prints it for a script, without the lines of this file.
    def text_of(error)
      cut(error)
      compiled = SyntaxError === error && error.backtrace.to_a.empty?
      text = compiled ? error.message : error.full_message(highlight: false, order: :top)
      text.end_with?("\n") ? text : "#{text}\n"
    rescue StandardError => another # of a method of the user's
      "#{error.class} (its message: #{another.class})\n"
    end

    def cut(error)
      while error
        frames = error.backtrace || []
        # An interrupt begins in this file, too.
        theirs = frames.drop_while { |frame| own?(frame) }.take_while { |frame| !own?(frame) }
        error.set_backtrace(theirs) if theirs.size < frames.size
        error = error.cause
      end
    end

    def own?(frame)
      frame.start_with?(OWN)
    end

    def describe(error)
      "#{error.class}: #{error.message}".scrub.gsub(/\s+/, ' ')[0, 1000]
    rescue StandardError
      error.class.to_s
    end

    def shorten(text)
      return text if text.length <= MAX_VALUE

      cut = "... [#{text.length} characters]"
      text[0, MAX_VALUE - cut.length] + cut
    end

    def json(text)
      whole = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
      "\"#{whole.gsub(/["\\\u0000-\u001f]/) { |each| '\u%04x' % [each.ord] }}\""
    end

    def flush
      [$stdout, $stderr, STDOUT, STDERR].each do |each|
        each.flush
      rescue StandardError
        nil # closed, or the user's own
      end
    end
  end
end

IglooSession.serve
