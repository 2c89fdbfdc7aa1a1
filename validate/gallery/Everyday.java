import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.Executors;

/** Everyday servers of the JDK: java Everyday.java NAME. Each says where it listens. */
public class Everyday {
    private static final byte[] BODY = "hello\n".repeat(20).getBytes();
    private static final ArrayDeque<byte[]> KEPT = new ArrayDeque<>();

    public static void main(String[] arguments) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 1024);
        var name = arguments[0];
        server.createContext("/", exchange -> {
            work(name);
            exchange.sendResponseHeaders(200, BODY.length);
            exchange.getResponseBody().write(BODY);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(name.equals("pool") ? 4 : 64));
        server.start();
        System.out.println("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    }

    private static void work(String name) {
        switch (name) {
            // Four threads that wait for a slow call.
            case "pool" -> sleep(20);
            // Much that is kept for a while: the collector copies it again and again.
            case "collector" -> {
                for (int i = 0; i < 60; i++) {
                    var piece = new byte[16 * 1024];
                    synchronized (KEPT) {
                        KEPT.addLast(piece);
                        if (KEPT.size() > 6_000) KEPT.removeFirst();
                    }
                }
            }
            default -> {}
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
